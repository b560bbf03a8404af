"""Tests of the warnings of a server when it starts."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reliquary.net.identity.users import User, Users
from reliquary.queueing.model.events import StartManager
from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.server.acts_options import ActsOptions
from reliquary.server.cautions import cautions, open_addresses, open_folders
from reliquary.server.config import Settings
from reliquary.server.history_options import HistoryOptions
from tests.net.http.certificate import PEM
from tests.queueing.manager_harness import Bench

ALICE = User(name="alice", token_sha256=sha256(b"a").hexdigest())
ROOT = User(name="root", token_sha256=sha256(b"r").hexdigest(), groups=("administrators",))


def reported(bench: Bench, users: tuple[User, ...] = (), **chosen: Any) -> list[str]:
    """Return the warnings of a server with these users."""
    settings = Settings(users=users, **chosen)
    known = Users(bench.state.identity().identifier, users)
    return list(cautions(settings, bench.state, known))


def with_users(*queues: str) -> Bench:
    """Return a manager whose queues were made before it knew users; `settings` is made now."""
    bench = Bench(*queues) if queues else Bench(start=False)
    if queues:
        bench.restart(start=False)
    bench.handle(StartManager("BENCH", first_list=MANAGER_LIST))
    bench.create("settings")
    return bench


def test_a_server_on_the_loopback_and_one_with_an_administrator_warn_of_nothing() -> None:
    assert reported(Bench("orders", "more")) == []
    assert reported(with_users(), (ALICE, ROOT), data_host="0.0.0.0") == []


def test_a_server_that_is_open_to_the_network_says_so() -> None:
    wanted = "access: no users are named: every client that reaches 0.0.0.0 and :: may do everything"
    assert reported(Bench(), data_host="0.0.0.0", control_host="::", open_to_network=True) == [wanted]


def test_folders_that_every_user_of_the_computer_can_enter_are_named(tmp_path: Path) -> None:
    data, history, acts = (tmp_path / name for name in ("data", "history", "acts"))
    for folder, mode in ((data, 0o750), (history, 0o755), (acts, 0o701)):
        folder.mkdir()
        folder.chmod(mode)
    (data / "history").mkdir(0o755)
    assert list(open_folders(Settings(folder=data))) == []
    settings = Settings(folder=data, history=HistoryOptions(folder=history), acts=ActsOptions(folder=acts))
    expected = (
        "access: every user of this computer can enter the folder {0}: `chmod o= {0}` takes that right back"
    )
    assert list(open_folders(settings)) == [expected.format(history), expected.format(acts)]
    data.chmod(0o755)
    assert reported(Bench(), folder=data)[0] == expected.format(data)
    assert list(open_folders(Settings(folder=tmp_path / "nowhere"))) == []


def test_a_plain_port_beside_one_that_requires_certificates_is_named() -> None:
    tls: dict[str, Any] = {
        "tls_certificate": PEM,
        "tls_key": PEM,
        "tls_client_ca": PEM,
        "tls_client_required": True,
    }
    assert reported(Bench(), **tls) == []
    [said] = reported(Bench(), data_tls_port=0, **tls)
    assert said.startswith("access: tls_client_required counts at data_tls_port; clients of data_port use")


@pytest.mark.parametrize(
    ("data", "control", "users", "open_at"),
    [
        ("127.0.0.1", "localhost", (), ()),
        ("0.0.0.0", "127.0.0.1", (), ("0.0.0.0",)),
        ("10.0.0.1", "10.0.0.1", (), ("10.0.0.1",)),
        ("0.0.0.0", "0.0.0.0", (ALICE,), ()),
    ],
)
def test_open_are_addresses_that_others_reach_without_users(
    data: str, control: str, users: tuple[User, ...], open_at: tuple[str, ...]
) -> None:
    settings = Settings(data_host=data, control_host=control, users=users, open_to_network=True)
    assert open_addresses(settings) == open_at


def test_users_without_an_administrator_are_warned_of() -> None:
    [said] = reported(with_users(), (ALICE,))
    assert said.startswith("access: no user is in the group administrators: no user may administer")


def test_queues_from_before_there_were_users_are_named() -> None:
    [said] = reported(with_users("orders", "a", "b", "c", "a;retry"), (ROOT,))
    assert said == (
        r"access: queues from before there were users are open: every client may change private$\orders,"
        r" private$\a, private$\b and 1 more: see `reliquary access revoke QUEUE everyone`"
    )
    [said] = reported(with_users("orders"), (ROOT,))
    assert "change private$\\orders: see" in said
