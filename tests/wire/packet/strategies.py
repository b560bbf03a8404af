"""Hypothesis strategies for headers and packets, with the whole range of each field."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st

from reliquary.wire.packet.addresses import NOWHERE, Address, AddressKind
from reliquary.wire.packet.base import BaseHeader
from reliquary.wire.packet.debug import DebugHeader
from reliquary.wire.packet.multi import ListedKind, ListedQueue, MultiQueueHeader
from reliquary.wire.packet.properties import PropertiesHeader
from reliquary.wire.packet.remote_read import (
    IPV4,
    IPV6,
    ExtendedAddressHeader,
    Extension,
    ReadPacket,
    SubqueueHeader,
)
from reliquary.wire.packet.security import NO_SENDER, QUEUE_MANAGER, SID, ProviderInfo, SecurityHeader
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.soap import CompoundHeader, EnvelopeHeader, SoapHeader
from reliquary.wire.packet.transaction import TransactionHeader
from reliquary.wire.packet.user import UserHeader
from reliquary.wire.packet.user_message import UserMessage

bytes_ = st.binary(max_size=21)
byte = st.integers(0, 0xFF)
short = st.integers(0, 0xFFFF)
long = st.integers(0, 0xFFFFFFFF)
guid = st.one_of(st.just(UUID(int=0)), st.uuids())
text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
direct = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=","), min_size=1, max_size=20
)


def address(kinds: list[AddressKind]) -> st.SearchStrategy[Address]:
    forms = {
        AddressKind.NONE: st.just(NOWHERE),
        AddressKind.SAME_AS_ADMIN: st.just(Address(AddressKind.SAME_AS_ADMIN)),
        AddressKind.PUBLIC: st.builds(Address, st.just(AddressKind.PUBLIC), guid=guid),
        AddressKind.PRIVATE: st.builds(Address, st.just(AddressKind.PRIVATE), number=long, guid=guid),
        AddressKind.DIRECT: st.builds(Address, st.just(AddressKind.DIRECT), direct=direct),
    }
    return st.sampled_from(kinds).flatmap(
        lambda kind: forms.get(kind, st.builds(Address, st.just(kind), number=long))
    )


destinations = [
    AddressKind.NONE,
    AddressKind.PRIVATE_ON_DESTINATION,
    AddressKind.PUBLIC,
    AddressKind.DIRECT,
]
admins = [*destinations, AddressKind.PRIVATE_ON_SOURCE, AddressKind.PRIVATE]

users = st.builds(
    UserHeader,
    source=guid,
    address=guid,
    time_to_be_received=long,
    sent_time=long,
    message_id=long,
    hops=st.integers(0, 31),
    recoverable=st.just(True),
    dead_letter=st.booleans(),
    journal=st.booleans(),
    destination=address(destinations),
    admin=address(admins),
    response=address(list(AddressKind)),
    connector_type=st.none() | guid,
)
transactions = st.builds(
    TransactionHeader,
    st.integers(0, 0xFFFFF),
    long,
    long,
    long,
    long,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.none() | guid,
)
providers = st.builds(ProviderInfo, long, text)
_senders = st.one_of(
    st.tuples(st.just(NO_SENDER), st.just(b"")),
    st.tuples(st.just(SID), st.binary(min_size=1, max_size=30)),
    st.tuples(st.just(QUEUE_MANAGER), st.binary(min_size=16, max_size=16)),
)
securities = st.builds(
    lambda sender, **more: SecurityHeader(sender_kind=sender[0], sender=sender[1], **more),
    _senders,
    authenticated=st.booleans(),
    encrypted=st.booleans(),
    default_provider=st.booleans(),
    data_flag=st.booleans(),
    signature_level=st.sampled_from([0, 1, 3, 5, 9]),
    encryption_key=bytes_,
    signature=bytes_,
    certificate=bytes_,
    provider=st.none() | providers,
).filter(
    lambda header: bool(
        header.sender
        or header.encryption_key
        or header.signature
        or header.certificate
        or header.provider is not None
    )
)
properties = st.builds(
    PropertiesHeader,
    acknowledgements=st.integers(0, 15),
    label=text,
    message_class=short,
    correlation=st.binary(min_size=20, max_size=20),
    body_type=long,
    application_tag=long,
    privacy=long,
    hash_algorithm=long,
    encryption_algorithm=long,
    extension=bytes_,
    body=st.binary(max_size=200),
    slack=bytes_,
)
debugs = st.builds(DebugHeader, st.none() | guid)
envelopes = st.builds(EnvelopeHeader, text, short)
compounds = st.binary(max_size=60).flatmap(
    lambda data: st.integers(0, len(data)).flatmap(
        lambda offset: st.builds(
            CompoundHeader, st.just(data), st.integers(0, len(data) - offset), st.just(offset), short
        )
    )
)
soaps = st.builds(SoapHeader, text, text)
listed = st.one_of(
    st.builds(ListedQueue, st.sampled_from([ListedKind.PUBLIC, ListedKind.DISTRIBUTION_LIST]), guid),
    st.builds(ListedQueue, st.just(ListedKind.PRIVATE), guid, long),
    st.builds(ListedQueue, st.just(ListedKind.DIRECT), direct=direct),
)
lists = st.lists(listed, max_size=4).map(tuple)
multis = st.builds(MultiQueueHeader, lists, lists, lists, bytes_)
sessions = st.builds(SessionHeader, short, short, long, short, short, st.integers(1, 0xFFFF))


@st.composite
def packets(draw: st.DrawFn) -> UserMessage:
    transaction = draw(st.none() | transactions)
    debug = draw(st.none() | debugs)
    user = draw(users)
    over_http = draw(st.booleans())
    if transaction is None and draw(st.booleans()):
        user = UserHeader(destination=user.destination, admin=user.admin, recoverable=False)
    return UserMessage(
        base=BaseHeader(draw(st.integers(0, 7)), debug is not None and draw(st.booleans()), draw(long)),
        user=user,
        transaction=transaction,
        security=draw(st.none() | securities),
        properties=draw(properties),
        debug=debug,
        envelope=draw(envelopes) if over_http else None,
        compound=draw(compounds) if over_http else None,
        soap=draw(st.none() | soaps),
        multi=draw(st.none() | multis),
        session=draw(st.none() | sessions),
    )


names = st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=31)
subqueues = st.builds(SubqueueHeader, names, names, short, long, long, long)
addresses = st.one_of(
    st.just(ExtendedAddressHeader()),
    st.builds(ExtendedAddressHeader, st.just(IPV4), st.binary(min_size=4, max_size=4), long),
    st.builds(ExtendedAddressHeader, st.just(IPV6), st.binary(min_size=16, max_size=16), long),
)
extensions = st.builds(Extension, subqueues, addresses, st.none() | text, st.booleans())
read_packets = st.builds(ReadPacket, packets(), extensions)
