"""Hypothesis makes requests and responses: every value that a stub can carry, in all its range."""

from __future__ import annotations

from ipaddress import IPv4Address
from uuid import UUID

from hypothesis import strategies as st

from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge, PortKind, ReadDescriptor, Request, Response
from reliquary.queueing.model.names.formats import (
    ConnectorName,
    DirectName,
    DistributionListName,
    MachineName,
    MulticastName,
    PrivateName,
    PublicName,
    Suffix,
)
from reliquary.queueing.model.names.schemes import HTTP, OS, TCP
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding

encodings: st.SearchStrategy[Encoding] = st.sampled_from([NDR20, NDR64])
byte = st.integers(0, 0xFF)
short = st.integers(0, 0xFFFF)
long = st.integers(0, 0xFFFF_FFFF)
hyper = st.integers(0, 0xFFFF_FFFF_FFFF_FFFF)
guid = st.one_of(st.just(UUID(int=0)), st.uuids())
packet = st.one_of(st.none(), st.binary(max_size=40))

_word = st.from_regex("[A-Za-z][a-z0-9._-]{0,9}", fullmatch=True)
_system = st.sampled_from([Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT])
_journal = st.sampled_from([Suffix.NONE, Suffix.JOURNAL])
_paths = st.one_of(
    _word,
    _word.map("private$\\{}".format),
    _word.map("{};JOURNAL".format),
    st.tuples(_word, _word).map("private$\\{0[0]};{0[1]}".format),
    _system.map(lambda suffix: f"SYSTEM$;{suffix.value}"),
)
names = st.one_of(
    st.builds(PublicName, guid, _journal),
    st.builds(PrivateName, guid, long, _journal),
    st.builds(DirectName, st.just(OS), _word, _paths),
    st.builds(DirectName, st.just(TCP), st.just("10.0.0.1"), _paths),
    st.builds(DirectName, st.just(HTTP), _word, _word.map("/msmq/private$/{}".format)),
    st.builds(MachineName, guid, _system),
    st.builds(ConnectorName, guid, st.sampled_from([Suffix.NONE, Suffix.XACTONLY])),
    st.builds(DistributionListName, guid, st.one_of(st.just(""), _word)),
    st.builds(MulticastName, st.integers(0xE0000000, 0xEFFFFFFF).map(IPv4Address), st.integers(1, 65535)),
).map(str)

descriptors = st.builds(
    ReadDescriptor,
    queue=long,
    action=long,
    timeout=long,
    request=long,
    cursor=long,
    queue_again=long,
    reserved=long,
    arrived=long,
    packet=packet,
)
descriptors_or_null = st.one_of(st.none(), descriptors)

requests: st.SearchStrategy[Request] = st.one_of(
    st.builds(qm2qm.StartReceive, descriptors),
    st.builds(qm2qm.EndReceive, guid, st.sampled_from(Acknowledge)),
    st.builds(qm2qm.OpenQueue, guid, st.integers(0, 16), long, long, long),
    st.builds(qm2qm.CloseQueue, guid),
    st.builds(qm2qm.CloseCursor, long, long),
    st.builds(qm2qm.CancelReceive, long, long, long),
    st.builds(qm2qm.PurgeQueue, long),
    st.builds(qm2qm.GetServerPort, st.sampled_from(PortKind)),
    st.builds(qm2qm.GetVersion),
    st.builds(qm2qm.StartReceive2, descriptors_or_null, hyper),
    st.builds(qm2qm.StartReceiveByLookupId, hyper, descriptors_or_null, hyper),
    st.builds(
        qmcomm.OpenRemoteQueue,
        name=st.one_of(st.none(), st.just(""), names),
        access=long,
        share=long,
        client=guid,
        level=long,
        process=long,
    ),
    st.builds(qmcomm.CloseRemoteQueueContext, guid),
    st.builds(qmcomm.CreateRemoteCursor, long),
    st.builds(qmcomm.GetServerPort, long),
)

ANSWERS: dict[type[Request], st.SearchStrategy[Response]] = {
    qm2qm.StartReceive: st.builds(qm2qm.ReadStarted, guid, descriptors, long),
    qm2qm.EndReceive: st.builds(qm2qm.HandleReturned, guid, long),
    qm2qm.OpenQueue: st.builds(qm2qm.HandleReturned, guid, long),
    qm2qm.CloseQueue: st.builds(qm2qm.HandleReturned, guid, long),
    qm2qm.CloseCursor: st.builds(qm2qm.StatusReturned, long),
    qm2qm.CancelReceive: st.builds(qm2qm.StatusReturned, long),
    qm2qm.PurgeQueue: st.builds(qm2qm.StatusReturned, long),
    qm2qm.GetServerPort: st.builds(qm2qm.PortReturned, long),
    qm2qm.GetVersion: st.builds(qm2qm.VersionReturned, byte, byte, short),
    qm2qm.StartReceive2: st.builds(qm2qm.ReadStarted2, guid, descriptors_or_null, hyper, long),
    qm2qm.StartReceiveByLookupId: st.builds(qm2qm.ReadStarted2, guid, descriptors_or_null, hyper, long),
    qmcomm.OpenRemoteQueue: st.builds(qmcomm.RemoteQueueOpened, guid, long, long, long, long),
    qmcomm.CloseRemoteQueueContext: st.builds(qmcomm.ContextClosed, guid),
    qmcomm.CreateRemoteCursor: st.builds(qmcomm.CursorCreated, long, long),
    qmcomm.GetServerPort: st.builds(qm2qm.PortReturned, long),
}
"""What each method may return."""
