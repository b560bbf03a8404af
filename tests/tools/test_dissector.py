"""Tests the Wireshark dissector: it is up to date, and tshark reads the published sample with it as we do."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reliquary.wire.packet.layouts import Layout
from tests.protocols.mqqb.codec.frames import COMPOSED, SAMPLE
from tools import dissector

ROOT = Path(__file__).parents[2]


def test_the_committed_file_is_what_the_tables_make() -> None:
    assert (ROOT / dissector.PAGE).read_text() == dissector.page(ROOT), "run ./dev docs"


def test_every_layout_is_shown() -> None:
    from reliquary.wire.packet import layouts

    tables = [each for each in vars(layouts).values() if isinstance(each, Layout)]
    assert sorted(map(id, dissector.TABLES.values())) == sorted(map(id, tables))


def _frame(payload: bytes, protocol: int, sequence: int, ports: tuple[int, int]) -> bytes:
    """Return an Ethernet frame with IPv4 and TCP or UDP; checksums are not looked at."""
    if protocol == 6:
        layer = struct.pack(">HHIIBBHHH", *ports, sequence, 1, 0x50, 0x18, 0xFFFF, 0, 0)
    else:
        layer = struct.pack(">HHHH", *ports, 8 + len(payload), 0)
    size = 20 + len(layer) + len(payload)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, protocol, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    return bytes(12) + b"\x08\0" + ip + layer + payload


def capture(path: Path, tcp: bytes, udp: list[bytes]) -> None:
    """Write a file with a stream in pieces that end inside packets, and datagrams."""
    parts = [(at, tcp[at : at + 700]) for at in range(0, len(tcp), 700)]
    frames = [_frame(each, 17, 0, (4057, 3527)) for each in udp]
    frames += [_frame(part, 6, 1 + at, (49759, 1801)) for at, part in parts]
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = (
        struct.pack("<IIII", each, 0, len(frame), len(frame)) + frame for each, frame in enumerate(frames)
    )
    path.write_bytes(head + b"".join(records))


def shown(path: Path) -> list[dict[str, Any]]:
    """Return what tshark reads, layer by layer."""
    script = f"lua_script:{ROOT / dissector.PAGE}"
    command = ["tshark", "-X", script, "-r", str(path), "-T", "json", "-J", "mqqb", "--no-duplicate-keys"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Lua: " not in done.stderr, done.stderr
    found = []
    for packet in json.loads(done.stdout):
        layer = packet["_source"]["layers"].get("mqqb", [])
        found += layer if isinstance(layer, list) else [layer]
    return found


def values(layers: list[dict[str, Any]], field: str) -> list[str]:
    """Return all values of a field, in the order of the packets."""
    found: list[str] = []

    def walk(node: object) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key == field:
                    found.extend(value if isinstance(value, list) else [value])
                else:
                    walk(value)
        elif isinstance(node, list):
            for each in node:
                walk(each)

    walk(layers)
    return found


@pytest.mark.needs("tshark")
def test_tshark_reads_the_sample_and_the_composed_packets(tmp_path: Path) -> None:
    stream = b"".join(SAMPLE[f"frame {number}"] for number in range(3, 9))
    stream += b"".join(COMPOSED[f"V{number}"] for number in range(1, 12))
    capture(tmp_path / "sample.pcap", stream, [SAMPLE["frame 1"], SAMPLE["frame 2"]])
    layers = shown(tmp_path / "sample.pcap")
    assert values(layers, "mqqb.ping.cookie") == ["4", "4"]
    assert len(values(layers, "mqqb.base.packetsize")) == 17
    assert values(layers, "mqqb.establish.clientguid")[0] == "557358d1-9150-9595-4997-b6e611ea26c6"
    assert values(layers, "mqqb.establish.operatingsystem")[0] == "0x0310"
    assert values(layers, "mqqb.parameters.recoverableacktimeout") == ["1496", "1496", "500"]
    assert values(layers, "mqqb.session.acksequencenumber") == ["1", "3", "40", "5"]
    assert values(layers, "mqqb.label")[0] == "mqsender label"
    assert values(layers, "mqqb.user.messageid")[:2] == ["2286", "42"]
    assert values(layers, "mqqb.transaction.txsequencenumber") == ["8", "8"]
    assert values(layers, "mqqb.order.txsequencenumber") == ["8", "8"]
    assert values(layers, "mqqb.final.messageid") == ["42"]
    assert values(layers, "mqqb.final.sourceguid") == ["5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10"]


@pytest.mark.needs("tshark")
def test_tshark_marks_what_is_no_packet(tmp_path: Path) -> None:
    capture(tmp_path / "noise.pcap", b"GET / HTTP/1.1\r\nHost: victim\r\n\r\n" * 3, [])
    text = json.dumps(shown(tmp_path / "noise.pcap"))
    assert "breaks its format" in text
