"""Tests NTLM and SPNEGO: our client against our server, and clients that want what they must not have."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

import pytest
import spnego
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from spnego import ContextReq, NegotiateOptions, NTLMHash
from spnego._spnego import NegTokenResp, unpack_token

from reliquary.net.identity.nt_hash import nt_hash
from reliquary.net.identity.users import User, Users
from reliquary.net.rpc.ntlm import ACCEPT_COMPLETED, MECHANISMS, NTLM, SPNEGO, ntlm_client, ntlm_server
from reliquary.protocols.rpc.security import SecurityContext, SecurityRefused
from reliquary.queueing.model.security.roles import Role
from reliquary.wire.rpc.protection import Protection

PASSWORD = "pässword"
ALICE = User(name="alice", nt_hash=nt_hash(PASSWORD))
CAROL = User(name="carol", nt_hash=nt_hash("another"))
BOB = User(name="bob", token_sha256=sha256(b"secret").hexdigest())
USERS = Users(UUID(int=1), (ALICE, CAROL, BOB))
SECURE = ntlm_server(USERS)
BOTH = pytest.mark.parametrize("auth_type", [SPNEGO, NTLM])


def accepting(auth_type: int) -> SecurityContext:
    server = SECURE(auth_type)
    assert server is not None
    return server


def join(client: SecurityContext, server: SecurityContext) -> int:
    """Carry tokens until neither side has one more; return how many went over."""
    count, token, here, there = 0, client.step(b""), server, client
    while token:
        count, token, here, there = count + 1, here.step(token), there, here
    return count


def joined(auth_type: int, user: str = "alice") -> tuple[SecurityContext, SecurityContext]:
    client, server = ntlm_client(user, PASSWORD, auth_type, "far"), accepting(auth_type)
    join(client, server)
    return client, server


@pytest.mark.parametrize(("auth_type", "tokens"), [(NTLM, 3), (SPNEGO, 4)])
@pytest.mark.parametrize("user", ["alice", "ALICE", "SOMEWHERE\\Alice"])
def test_a_user_with_a_hash_is_known_after_the_last_token(auth_type: int, tokens: int, user: str) -> None:
    client, server = ntlm_client(user, PASSWORD, auth_type, "far"), accepting(auth_type)
    assert [side.complete for side in (client, server)] == [False, False]
    assert join(client, server) == tokens
    assert [side.complete for side in (client, server)] == [True, True]
    assert server.user == "alice"
    assert client.signature_size == server.signature_size == 16


def test_other_types_of_authentication_are_not_known() -> None:
    assert [auth_type for auth_type in range(256) if SECURE(auth_type) is not None] == sorted(MECHANISMS)


@BOTH
@pytest.mark.parametrize(
    ("after", "known"),
    [
        pytest.param((ALICE, CAROL), True, id="as before"),
        pytest.param((CAROL,), False, id="removed"),
        pytest.param((User(name="alice", nt_hash=nt_hash("new")), CAROL), False, id="another password"),
        pytest.param((structs.replace(ALICE, role=Role.READER),), False, id="another role"),
        pytest.param((), False, id="no users"),
    ],
)
def test_a_user_that_was_changed_is_no_longer_known(
    auth_type: int, after: tuple[User, ...], known: bool
) -> None:
    users = Users(UUID(int=1), (ALICE, BOB))
    server = ntlm_server(users)(auth_type)
    assert server is not None
    join(ntlm_client("alice", PASSWORD, auth_type, "far"), server)
    assert server.complete
    users.renew(after)
    assert server.complete is known


@BOTH
def test_what_one_side_signs_the_other_verifies_and_nothing_else(auth_type: int) -> None:
    client, server = joined(auth_type)
    for message in (b"one", b"two", b""):
        server.verify(message, client.sign(message))
        client.verify(message, server.sign(message))
    with pytest.raises(SecurityRefused):
        server.verify(b"changed", client.sign(b"message"))


@BOTH
def test_only_the_middle_part_is_encrypted_and_all_three_are_signed(auth_type: int) -> None:
    client, server = joined(auth_type)
    for here, there in ((client, server), (server, client), (client, server)):
        sealed, signature = here.seal(b"header", b"stub" * 100, b"trailer")
        assert sealed != b"stub" * 100
        assert there.unseal(b"header", sealed, b"trailer", signature) == b"stub" * 100
    sealed, signature = client.seal(b"header", b"stub", b"trailer")
    with pytest.raises(SecurityRefused):
        server.unseal(b"Header", sealed, b"trailer", signature)


def test_signatures_and_seals_may_be_mixed() -> None:
    client, server = joined(NTLM)
    sealed, signature = client.seal(b"a", b"b", b"c")
    assert server.unseal(b"a", sealed, b"c", signature) == b"b"
    server.verify(b"next", client.sign(b"next"))


@BOTH
def test_a_replayed_message_is_refused(auth_type: int) -> None:
    client, server = joined(auth_type)
    signature = client.sign(b"once")
    server.verify(b"once", signature)
    with pytest.raises(SecurityRefused):
        server.verify(b"once", signature)


@BOTH
@pytest.mark.parametrize(
    ("user", "password"),
    [
        pytest.param("alice", "wrong", id="wrong password"),
        pytest.param("bob", "secret", id="a user without an NT hash"),
        pytest.param("dave", PASSWORD, id="no_user"),
        pytest.param("carol", PASSWORD, id="the password of another"),
        pytest.param("a\\b\\alice", PASSWORD, id="a name with a backslash"),
    ],
)
def test_a_client_that_cannot_prove_its_name_is_refused(auth_type: int, user: str, password: str) -> None:
    client, server = ntlm_client(user, password, auth_type, "far"), accepting(auth_type)
    with pytest.raises(SecurityRefused):
        join(client, server)
    assert not server.complete
    assert server.user == ""
    with pytest.raises(SecurityRefused):
        server.sign(b"anything")


@pytest.mark.parametrize("level", ["0", "1", "2"])
def test_version_1_of_ntlm_is_refused(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_COMPAT_LEVEL", level)
    server = accepting(NTLM)
    client = spnego.client("alice", PASSWORD, protocol="ntlm", options=NegotiateOptions.use_ntlm)
    challenge = server.step(client.step() or b"")
    with pytest.raises(SecurityRefused, match="version 1"):
        server.step(client.step(challenge) or b"")


def test_the_hash_of_an_empty_lm_password_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LM_COMPAT_LEVEL", "0")
    nothing = NTLMHash(username="alice", lm_hash="0" * 32, nt_hash="0" * 32)
    server = accepting(NTLM)
    client = spnego.client(nothing, protocol="ntlm", options=NegotiateOptions.use_ntlm)
    token = bytearray(client.step(server.step(client.step() or b"")) or b"")
    token[20:24] = bytes(4)  # without an NT response the LM response would count
    with pytest.raises(SecurityRefused):
        server.step(bytes(token))


@pytest.mark.parametrize(
    ("asked", "best"),
    [
        (ContextReq.none, Protection.CALL),
        (ContextReq.integrity, Protection.INTEGRITY),
        (ContextReq.confidentiality | ContextReq.integrity, Protection.PRIVACY),
    ],
)
def test_a_level_protects_only_with_what_the_client_negotiated(asked: ContextReq, best: Protection) -> None:
    server = accepting(NTLM)
    client = spnego.client(
        "alice", PASSWORD, protocol="ntlm", options=NegotiateOptions.use_ntlm, context_req=asked
    )
    server.step(client.step(server.step(client.step() or b"")) or b"")
    assert server.complete
    assert [level for level in Protection if server.protects(level)] == list(range(1, best + 1))


def test_spnego_is_complete_without_signatures_where_the_client_negotiated_none() -> None:
    server = accepting(SPNEGO)
    client = spnego.client(
        "alice", PASSWORD, protocol="ntlm", options=NegotiateOptions.use_ntlm, context_req=ContextReq.none
    )
    ntlm, spnego_oid = bytes.fromhex("060a2b06010401823702020a"), bytes.fromhex("06062b0601050502")

    def wrapped(tag: int, *parts: bytes) -> bytes:
        inside = b"".join(parts)
        length = bytes((len(inside),)) if len(inside) < 128 else b"\x82" + len(inside).to_bytes(2)
        return bytes((tag,)) + length + inside

    mechanisms = wrapped(0xA0, wrapped(0x30, ntlm))
    first = wrapped(0xA2, wrapped(0x04, client.step() or b""))
    answer = server.step(wrapped(0x60, spnego_oid, wrapped(0xA0, wrapped(0x30, mechanisms, first))))
    challenge = answer[answer.index(b"NTLMSSP\0") :]
    token = wrapped(0xA2, wrapped(0x04, client.step(challenge) or b""))
    assert server.step(wrapped(0xA1, wrapped(0x30, token))) == ACCEPT_COMPLETED
    assert server.complete
    assert server.user == "alice"
    assert server.protects(Protection.CONNECT)
    assert not server.protects(Protection.INTEGRITY)


def test_a_name_that_comes_after_the_proof_of_another_does_not_count() -> None:
    server, client = accepting(SPNEGO), ntlm_client("alice", PASSWORD, SPNEGO, "far")
    last = unpack_token(client.step(server.step(client.step(b""))))
    assert isinstance(last, NegTokenResp)
    assert last.response_token is not None
    server.step(NegTokenResp(response_token=last.response_token).pack())
    assert not server.complete
    other = last.response_token.replace("alice".encode("utf-16-le"), "carol".encode("utf-16-le"))
    server.step(NegTokenResp(response_token=other, mech_list_mic=last.mech_list_mic).pack())
    assert [server.complete, server.user] == [True, "alice"]


def test_a_session_key_that_was_cut_off_is_refused() -> None:
    server = accepting(NTLM)
    client = spnego.client("alice", PASSWORD, protocol="ntlm", options=NegotiateOptions.use_ntlm)
    challenge = server.step(client.step() or b"")
    without_time = challenge.replace(b"\x07\0\x08\0", b"\x0a\0\x08\0")  # then the client sends no MIC
    token = bytearray(client.step(without_time) or b"")
    token[52:54] = bytes(2)
    with pytest.raises(SecurityRefused, match="128 bits"):
        server.step(bytes(token))
    assert not server.complete


@BOTH
@settings(max_examples=40)
@given(data=st.data())
def test_tokens_that_were_changed_are_refused_and_nothing_else_happens(
    auth_type: int, data: st.DataObject
) -> None:
    client, server = ntlm_client("alice", PASSWORD, auth_type, "far"), accepting(auth_type)
    token = client.step(b"")
    if data.draw(st.booleans()):
        token = client.step(server.step(token))
    broken = bytearray(token[: data.draw(st.integers(0, len(token)))])
    if broken:
        broken[data.draw(st.integers(0, len(broken) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        server.step(bytes(broken))
    except SecurityRefused:
        assert not server.complete
