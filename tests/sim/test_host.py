"""Tests the host: after every end of a process there is another start, on the rows that the disk has kept."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import SendMessages
from reliquary.queueing.model.message import Message
from reliquary.sim.applications import Call, Script
from reliquary.sim.history import shown
from reliquary.sim.ledger import Ledger
from reliquary.sim.senders import Sender
from reliquary.sim.site_faults import SiteFaults
from tests.sim.simulated_server import SimulatedServer


class OneSend(Sender):
    """Sends one message, and ends."""

    def script(self) -> Script:
        """Send until it is confirmed."""
        yield Call(lambda to: SendMessages(to, "orders", (self._message(),)))

    def _message(self) -> Message:
        message, sending = self._make("orders", 3, express=False, transaction=None)
        self.history.sending(sending)
        return message


def stored_in(ledger: Ledger) -> set[str]:
    return {shown(body) for body in ledger.stored if not body.startswith(b"ACK")}


def test_a_process_that_ended_is_followed_by_another_that_knows_its_queues() -> None:
    server = SimulatedServer()
    names = dict(server.process.manager.state.names.by_path)
    server.process.cut_power()
    assert server.host.process is None
    server.until(lambda: server.host.ready)
    assert server.process.manager.state.names.by_path == names
    assert (server.history.processes, server.history.crashes) == (2, 1)


def test_power_goes_again_and_again_until_the_faults_end() -> None:
    server = SimulatedServer(faults=SiteFaults(power_every=SECOND), queues=False)
    server.passes(30 * SECOND)
    processes = server.history.processes
    assert processes > 5
    server.faults.end()
    server.passes(30 * SECOND)
    assert server.history.processes <= processes + 1
    assert server.host.ready


def test_administrators_stop_the_host_and_set_its_calendar() -> None:
    server = SimulatedServer(faults=SiteFaults(stop_every=SECOND, jump_every=SECOND), queues=False)
    before = server.host.calendar.read() - server.scheduler.now
    server.passes(10 * SECOND)
    assert server.history.processes > 2
    assert server.host.calendar.read() - server.scheduler.now != before


def test_power_may_go_at_every_point_even_during_the_start() -> None:
    server = SimulatedServer(faults=SiteFaults(power_at_a_point=0.9), queues=False)
    server.passes(10 * SECOND)
    assert server.history.processes > 5


def test_a_backup_that_is_restored_brings_back_what_there_was_and_begins_an_era() -> None:
    server = SimulatedServer()
    server.play(OneSend("first", server.context))
    backup = server.host.back_up()
    server.play(OneSend("second", server.context))
    server.host.restore(backup, known=False)
    server.until(lambda: server.host.ready)
    manager = server.process.manager.state
    assert manager.identity().era is not None
    [replaced] = server.witness.replaced
    assert [stored_in(ledger) for ledger in (replaced, server.witness.ledger)] == [
        {"first.1", "second.1"},
        {"first.1"},
    ]
    assert server.host.disk.restoration is None
    assert server.history.restores == 1


def test_the_moment_until_which_the_old_store_was_used_may_be_known() -> None:
    server = SimulatedServer(queues=False)
    server.host.restore(server.host.back_up(), known=True)
    moment = server.host.calendar.read()
    server.until(lambda: server.host.ready)
    era = server.process.manager.state.identity().era
    assert era is not None
    assert moment <= era.alive_until < era.began


def test_a_store_whose_process_has_just_ended_can_be_restored() -> None:
    server = SimulatedServer(queues=False)
    backup = server.host.back_up()
    server.process.cut_power()
    server.host.restore(backup, known=True)
    server.until(lambda: server.host.ready)
    assert server.process.manager.state.identity().era is not None


def test_one_restore_begins_one_era_despite_power_cuts() -> None:
    server = SimulatedServer(faults=SiteFaults(power_at_a_point=0.3), queues=False)
    server.until(lambda: server.host.ready)
    server.host.restore(server.host.back_up(), known=True)
    server.passes(10 * SECOND)
    server.faults.end()
    server.until(lambda: server.host.ready)
    era = server.process.manager.state.identity().era
    assert era is not None
    assert (era.number, server.history.restores) == (1, 1)
