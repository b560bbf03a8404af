"""Receipt blocks are what the decoder reads."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.codec.blocks import commitment_block, delivery_block, stream_receipt_block
from reliquary.protocols.srmp.codec.decode import decode_envelope
from tests.protocols.srmp.codec.envelopes import DELIVERY, FINAL, STREAM_RECEIPT, element


@pytest.mark.spec("SR-079", "SR-080")
def test_a_delivery_receipt_is_written_as_it_was_read() -> None:
    receipt = decode_envelope(DELIVERY).delivery_receipt
    assert receipt
    assert delivery_block(receipt) == element(DELIVERY, "deliveryReceipt")


@pytest.mark.spec("SR-083", "SR-084", "SR-085")
def test_a_commitment_receipt_is_written_as_it_was_read() -> None:
    receipt = decode_envelope(FINAL).commitment_receipt
    assert receipt
    assert commitment_block(receipt) == element(FINAL, "commitmentReceipt")


@pytest.mark.spec("SR-087", "SR-088")
def test_a_stream_receipt_is_written_as_it_was_read() -> None:
    receipt = decode_envelope(STREAM_RECEIPT).stream_receipt
    assert receipt
    assert stream_receipt_block(receipt) == element(STREAM_RECEIPT, "streamReceipt")
