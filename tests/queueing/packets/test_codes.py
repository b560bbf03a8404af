"""Tests that each enumerated value of a Message has the number that the specification prints."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import pytest

from reliquary.queueing.model.message import (
    Acknowledgement,
    AdministrationKind,
    AuthenticationLevel,
    DestinationKind,
    EncryptionAlgorithm,
    HashAlgorithm,
    MessagePrivacy,
    ResponseKind,
    SenderKind,
)
from reliquary.queueing.packets import codes

PRINTED: list[tuple[type[Enum], Mapping[Any, int], dict[str, int]]] = [
    (MessagePrivacy, codes.PRIVACY, {"NONE": 0, "BASE": 1, "ENHANCED": 3, "ADVANCED": 5}),
    (
        HashAlgorithm,
        codes.HASH,
        {
            "MD2": 0x8001,
            "MD4": 0x8002,
            "MD5": 0x8003,
            "SHA1": 0x8004,
            "SHA": 0x8004,
            "SHA_256": 0x800C,
            "SHA_512": 0x800E,
        },
    ),
    (
        EncryptionAlgorithm,
        codes.ENCRYPTION,
        {"RC2": 0x6602, "RC4": 0x6801, "AES128": 0x660E, "AES192": 0x660F, "AES256": 0x6610},
    ),
    (
        AuthenticationLevel,
        codes.SIGNATURE,
        {"NONE": 0, "SIG10": 1, "SIG20": 3, "SIG30": 5, "XML_SIG": 9},
    ),
    (SenderKind, codes.SENDER, {"NONE": 0, "SID": 1, "QUEUE_MANAGER": 2}),
    (DestinationKind, codes.DESTINATION, {"PRIVATE": 3, "PUBLIC": 5, "DIRECT": 7}),
    (
        AdministrationKind,
        codes.ADMINISTRATION,
        {
            "NONE": 0,
            "PRIVATE_ON_SOURCE": 2,
            "PRIVATE_ON_DESTINATION": 3,
            "PUBLIC": 5,
            "PRIVATE_ON_OTHER": 6,
            "DIRECT": 7,
        },
    ),
    (
        ResponseKind,
        codes.RESPONSE,
        {
            "NONE": 0,
            "SAME_AS_ADMINISTRATION": 1,
            "PRIVATE_ON_SOURCE": 2,
            "PRIVATE_ON_DESTINATION": 3,
            "PRIVATE_ON_ADMINISTRATION": 4,
            "PUBLIC": 5,
            "PRIVATE_ON_OTHER": 6,
            "DIRECT": 7,
        },
    ),
    (
        Acknowledgement,
        codes.ACKNOWLEDGEMENT,
        {
            "POS_ARRIVAL": 1,
            "POS_RECEIVE": 2,
            "NEG_ARRIVAL": 4,
            "NEG_RECEIVE": 8,
            "NACK_REACH_QUEUE": 4,
            "FULL_REACH_QUEUE": 5,
            "NACK_RECEIVE": 0xC,
            "FULL_RECEIVE": 0xE,
        },
    ),
]


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(
    ("words", "table", "printed"), PRINTED, ids=[words.__name__ for words, _, _ in PRINTED]
)
def test_the_numbers_are_those_that_are_printed(
    words: type[Enum], table: Mapping[Any, int], printed: dict[str, int]
) -> None:
    assert {word.name: int(number) for word, number in table.items()} == printed
    if words is not EncryptionAlgorithm:
        assert set(table) == set(words)


@pytest.mark.spec("DM-277")
def test_0x8003_is_md5_and_0x8004_is_sha1() -> None:
    assert codes.HASH_OF[0x8003] is HashAlgorithm.MD5
    assert codes.HASH_OF[0x8004] is HashAlgorithm.SHA1


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(
    ("table", "back"),
    [
        (codes.PRIVACY, codes.PRIVACY_OF),
        (codes.ENCRYPTION, codes.ENCRYPTION_OF),
        (codes.SIGNATURE, codes.SIGNATURE_OF),
        (codes.SENDER, codes.SENDER_OF),
        (codes.DESTINATION, codes.DESTINATION_OF),
        (codes.ADMINISTRATION, codes.ADMINISTRATION_OF),
        (codes.RESPONSE, codes.RESPONSE_OF),
    ],
)
def test_a_number_is_read_as_the_word_that_wrote_it(
    table: Mapping[Any, int], back: Mapping[int, Any]
) -> None:
    assert {word: back[number] for word, number in table.items()} == {word: word for word in table}


@pytest.mark.spec("DM-277")
def test_acknowledgements_are_four_bits_and_read_as_the_four_words_for_them() -> None:
    for bits in range(16):
        assert codes.acknowledgement_bits(codes.ACKNOWLEDGEMENTS_OF[bits]) == bits
    full = (Acknowledgement.FULL_RECEIVE, Acknowledgement.POS_ARRIVAL)
    assert codes.acknowledgement_bits(full) == 0xF
