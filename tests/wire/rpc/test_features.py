"""Tests transfer syntaxes that are a mask of features."""

from __future__ import annotations

import pytest

from reliquary.wire.rpc.features import FEATURES, Feature, features_syntax, offered_features
from reliquary.wire.rpc.syntaxes import NDR20_SYNTAX, NDR64_SYNTAX


def test_an_offer_has_the_specified_bytes() -> None:
    assert features_syntax(3).uuid.bytes_le == bytes.fromhex("2c1cb76c12984045 0300000000000000")


@pytest.mark.parametrize("features", [0, 1, 2, 3, 0x8000000000000001])
def test_an_offer_is_encoded_and_decoded(features: int) -> None:
    assert offered_features(features_syntax(features)) == features


def test_a_real_transfer_syntax_offers_no_features() -> None:
    assert offered_features(NDR20_SYNTAX) is None
    assert offered_features(NDR64_SYNTAX) is None
    assert offered_features(features_syntax(1)._replace(major=2)) is None


def test_both_features_are_supported() -> None:
    assert set(Feature) == {Feature.SECURITY_CONTEXTS, Feature.KEEP_ON_ORPHAN}
    assert sum(Feature) == FEATURES
