"""Each row of 3.1.5.1.5, and what is in none."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.codec.decode import decode_envelope
from reliquary.protocols.srmp.codec.kinds import kind_of
from reliquary.protocols.srmp.codec.values import MessageKind
from tests.protocols.srmp.codec.envelopes import (
    COMMITMENT,
    DELIVERY,
    FINAL,
    FIRST,
    PLAIN,
    SMALL,
    STREAM_RECEIPT,
    changed,
    element,
    without,
)


def kind(envelope: str) -> MessageKind:
    return kind_of(decode_envelope(envelope))


@pytest.mark.spec("SR-195")
@pytest.mark.parametrize("envelope", [SMALL, PLAIN, FIRST])
def test_a_normal_message_without_receipts_is_of_a_user(envelope: str) -> None:
    assert kind(envelope) is MessageKind.USER_MESSAGE


@pytest.mark.spec("SR-196", "SR-197", "SR-198", "SR-199", "SR-028")
def test_each_receipt_is_known() -> None:
    assert kind(DELIVERY) is MessageKind.DELIVERY_RECEIPT
    assert kind(STREAM_RECEIPT) is MessageKind.STREAM_RECEIPT
    assert kind(FINAL) is MessageKind.FINAL_STREAM_RECEIPT
    assert kind(COMMITMENT) is MessageKind.COMMITMENT_RECEIPT


NEGATIVE_RECEIPT = changed(COMMITMENT, (">positive<", ">negative<"))
ORDER = ("MSMQ:QM Ordering Ack", "MSMQ:another")


@pytest.mark.spec("SR-198", "SR-199")
@pytest.mark.parametrize("number", [0x8001, 0xC000, 0xC001, 0xC002, 0xC004])
def test_a_negative_decision_has_one_of_five_classes(number: int) -> None:
    assert kind(changed(NEGATIVE_RECEIPT, (">16384<", f">{number}<"))) is MessageKind.COMMITMENT_RECEIPT
    assert kind(changed(FINAL, (">49154<", f">{number}<"))) is MessageKind.FINAL_STREAM_RECEIPT


@pytest.mark.srmp("F-52", "F-53")
@pytest.mark.spec("SR-194")
@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param(changed(PLAIN, ("<Class>0", "<Class>1")), id="a report"),
        pytest.param(without(DELIVERY, "Msmq"), id="F-52 delivery"),
        pytest.param(without(COMMITMENT, "Msmq"), id="F-52 commitment"),
        pytest.param(without(STREAM_RECEIPT, "Msmq"), id="F-52 stream"),
        pytest.param(changed(DELIVERY, ("<Class>2<", "<Class>0<")), id="F-53 class of a delivery receipt"),
        pytest.param(changed(STREAM_RECEIPT, ORDER), id="F-53 action of a stream receipt"),
        pytest.param(changed(STREAM_RECEIPT, (">255<", ">2<")), id="F-53 class of a stream receipt"),
        pytest.param(changed(FINAL, ORDER), id="F-53 action of a final receipt"),
        pytest.param(changed(FINAL, (">49154<", ">16384<")), id="F-53 decision of a final receipt"),
        pytest.param(NEGATIVE_RECEIPT, id="F-53 negative with a positive class"),
        pytest.param(changed(COMMITMENT, (">16384<", ">49153<")), id="F-53 positive with a negative class"),
        pytest.param(changed(NEGATIVE_RECEIPT, (">16384<", ">32768<")), id="F-53 a class not of SRMP"),
        pytest.param(changed(NEGATIVE_RECEIPT, (">16384<", ">49155<")), id="F-53 timed out at the sender"),
        pytest.param(
            changed(DELIVERY, ("<Msmq ", element(STREAM_RECEIPT, "streamReceipt") + "<Msmq ")),
            id="F-53 delivery and stream",
        ),
        pytest.param(
            changed(DELIVERY, ("<Msmq ", element(COMMITMENT, "commitmentReceipt") + "<Msmq ")),
            id="F-53 delivery and commitment",
        ),
    ],
)
def test_what_fits_no_row_is_unknown(envelope: str) -> None:
    assert kind(envelope) is MessageKind.UNKNOWN
