"""The block with our own properties is read back, and is not written where it would say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given

from reliquary.protocols.wsrm.codec.properties import PROPERTIES, properties_block, read_properties
from reliquary.protocols.wsrm.codec.values import Properties
from reliquary.wire.xml import root_of
from tests.protocols.wsrm.codec.strategies import properties


@given(properties)
def test_properties_are_read_back(chosen: Properties) -> None:
    element = root_of(properties_block(chosen).encode())
    assert element.tag == PROPERTIES
    assert read_properties(element) == chosen


def test_defaults_are_not_written() -> None:
    assert properties_block(Properties()) == ""
    block = properties_block(Properties(priority=5))
    assert block == '<rq:Properties xmlns:rq="urn:reliquary:wsrm" priority="5"/>'


@pytest.mark.parametrize("attribute", ['priority="high"', 'sentTime="4294967296"', 'express="maybe"'])
def test_a_property_without_a_valid_value_is_refused(attribute: str) -> None:
    with pytest.raises(ValueError, match=r"number|most|neither"):
        read_properties(root_of(f'<p xmlns="urn:reliquary:wsrm" {attribute}/>'.encode()))


def test_attributes_of_others_mean_nothing() -> None:
    block = b'<p xmlns="urn:reliquary:wsrm" xmlns:o="urn:o" o:priority="9" colour="red"/>'
    assert read_properties(root_of(block)) == Properties()
