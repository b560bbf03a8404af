"""Tests the sample of [MS-MQQB] 4, byte for byte, with its printed mistakes (vectors/ORIGIN.md)."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.mqqb.codec.packets import decode_packet
from reliquary.wire.packet.framing import Framer
from reliquary.wire.packet.internal import (
    NOT_PINGED,
    RELEASE,
    SERVER_CLASS,
    ConnectionParameters,
    EstablishConnection,
    SessionAck,
)
from reliquary.wire.packet.ping import Ping, decode_ping
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.user_message import UserMessage
from tests.protocols.mqqb.codec import second_decoder
from tests.protocols.mqqb.codec.frames import SAMPLE
from tests.wire.packet.both_ways import changed

CLIENT = UUID("557358d1-9150-9595-4997-b6e611ea26c6")
SERVER = UUID("43cd8907-394c-8f11-4445-9078909ea0fc")
REQUEST = EstablishConnection(
    client=CLIENT,
    server=SERVER,
    timestamp=501_140_046,
    operating_system=RELEASE | NOT_PINGED | SERVER_CLASS,
)
MESSAGES = [f"frame {number}" for number in range(3, 9)]


def unreserved(name: str) -> bytes:
    """Return a frame as we write it: the reserved byte of the base header is 0."""
    return changed(SAMPLE[name], 1, to=b"\0")


def user_message() -> UserMessage:
    message = decode_packet(SAMPLE["frame 7"])
    assert isinstance(message, UserMessage)
    return message


@pytest.mark.spec("QB-077", "QB-083", "QB-084")
@pytest.mark.mqqb("T-01")
def test_frame_1_asks_and_its_rubbish_bits_are_ignored() -> None:
    request = decode_ping(SAMPLE["frame 1"])
    assert request == Ping(4, CLIENT, is_client=True)
    assert request.encode() == changed(SAMPLE["frame 1"], 1, to=b"\0")


@pytest.mark.spec("QB-079", "QB-086")
@pytest.mark.mqqb("T-02")
def test_frame_2_answers_frame_1() -> None:
    request = decode_ping(SAMPLE["frame 1"])
    assert request is not None
    assert decode_ping(SAMPLE["frame 2"]) == request.answer(SERVER, refused=False)


@pytest.mark.spec("QB-023", "QB-043", "QB-044", "QB-045", "QB-047", "QB-048")
@pytest.mark.mqqb("T-03")
def test_frame_3_asks_for_a_session() -> None:
    assert decode_packet(SAMPLE["frame 3"]) == REQUEST
    assert REQUEST.encode() == unreserved("frame 3")


@pytest.mark.spec("QB-057")
@pytest.mark.mqqb("T-04")
def test_frame_4_is_from_another_capture_and_accepts() -> None:
    answer = decode_packet(SAMPLE["frame 4"])
    assert isinstance(answer, EstablishConnection)
    assert not answer.refused
    assert answer.client != CLIENT, "mistake 6: the frame is from another capture"
    assert answer.server != SERVER
    assert (answer.timestamp, answer.operating_system) == (REQUEST.timestamp, REQUEST.operating_system)
    assert SAMPLE["frame 4"][60:] == answer.encode()[60:] == b"\x5a" * 512
    assert answer.encode() == unreserved("frame 4")


@pytest.mark.spec("QB-024", "QB-038", "QB-039", "QB-040", "QB-158")
@pytest.mark.mqqb("T-05", "T-06")
@pytest.mark.parametrize("name", ["frame 5", "frame 6"])
def test_frames_5_and_6_agree_on_times_and_window(name: str) -> None:
    parameters = ConnectionParameters(recoverable_ack_timeout=1496, ack_timeout=120_000, window=64)
    assert decode_packet(SAMPLE[name]) == parameters
    assert parameters.encode() == unreserved(name)


@pytest.mark.mqqb("T-07")
def test_frame_7_is_a_message_and_encodes_to_itself() -> None:
    message = user_message()
    assert message.encode() == SAMPLE["frame 7"]
    assert len(SAMPLE["frame 7"]) == 2224
    assert message.user.destination.direct == r"OS:a04bm02\q"
    assert message.properties.label == "mqsender label"
    assert message.properties.body == b"a\0" * 1000


@pytest.mark.spec("QB-025", "QB-076")
@pytest.mark.mqqb("T-08")
def test_frame_8_acknowledges_one_message() -> None:
    ack = SessionAck(SessionHeader(ack=1))
    assert decode_packet(SAMPLE["frame 8"]) == ack
    assert ack.encode() == unreserved("frame 8")


def test_the_frames_of_a_session_are_cut_out_of_its_stream() -> None:
    framer = Framer()
    assert framer.feed(b"".join(SAMPLE[name] for name in MESSAGES)) == [SAMPLE[name] for name in MESSAGES]


class TestPrintedMistakes:
    """One test for each row of vectors/ORIGIN.md."""

    def test_1_guids_are_printed_in_reverse(self) -> None:
        assert str(REQUEST.client) == "557358d1-9150-9595-4997-b6e611ea26c6"
        assert SAMPLE["frame 1"][8:][::-1].hex().upper() == "C626EA11E6B6974995959150557358D1"

    def test_2_and_3_the_operating_system_comes_first_and_has_both_bits(self) -> None:
        assert SAMPLE["frame 3"][56:60] == b"\x10\x03\0\0"
        assert REQUEST.operating_system == 0x0310

    def test_4_and_5_a_ping_was_sent_and_the_request_says_otherwise(self) -> None:
        assert REQUEST.operating_system & NOT_PINGED
        answer = decode_ping(SAMPLE["frame 2"])
        assert answer is not None
        assert REQUEST.server == answer.manager

    def test_7_the_window_is_64(self) -> None:
        assert SAMPLE["frame 6"][30:32] == b"\x40\0"

    def test_8_the_time_of_sending_is_the_signature(self) -> None:
        assert user_message().user.sent_time == 0x524F494C

    def test_9_to_12_sizes_and_flags_are_others_than_printed(self) -> None:
        properties = user_message().properties
        assert properties.acknowledgements == 0x0F
        assert user_message().user.admin.kind == 0
        assert len(properties.body) == 2000
        assert properties.encryption_algorithm == 0x6801
        assert 0x8B0 - (0xDE + 2000) == 2

    def test_14_sizes_decide_what_is_there(self) -> None:
        security = user_message().security
        assert security is not None
        assert len(security.sender) == 28
        assert not security.data_flag

    def test_15_bit_24_is_reserved_and_the_time_is_not_the_default(self) -> None:
        raw = changed(SAMPLE["frame 7"], 63, to=b"\1")
        assert decode_packet(raw) == user_message()
        assert ConnectionParameters().ack_timeout == 20_000


@pytest.mark.mqqb("T-14")
def test_the_second_decoder_reads_the_frames_alike() -> None:
    stream = b"".join(SAMPLE[name] for name in MESSAGES)
    assert second_decoder.split(stream) == ([SAMPLE[name] for name in MESSAGES], b"")
    assert second_decoder.packet(SAMPLE["frame 3"]) == {
        "kind": "EstablishConnection",
        "CS": False,
        "ClientGuid": str(CLIENT),
        "ServerGuid": str(SERVER),
        "TimeStamp": 501_140_046,
        "OperatingSystem": 0x0310,
    }
    message = second_decoder.packet(SAMPLE["frame 7"])
    assert message["DestinationQueue"] == r"OS:a04bm02\q"
    assert message["Label"] == "mqsender label"
    assert message["Body"] == b"a\0" * 1000
