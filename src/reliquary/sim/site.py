"""Combines one server with its host, its network and the applications that use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reliquary.base.time import MINUTE
from reliquary.queueing.model.queue import QueueType
from reliquary.sim.applications import ApplicationContext
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import Violation
from reliquary.sim.host import Host
from reliquary.sim.network import Network
from reliquary.sim.process import Process, Surroundings
from reliquary.sim.readers import Drainer
from reliquary.sim.transactors import Resolver


class Site:
    """The steps of a run for one server."""

    def __init__(
        self,
        around: Surroundings,
        queues: Sequence[str],
        *,
        process: type[Process] = Process,
        disk: type[SimulatedDisk] = SimulatedDisk,
        unread: Iterable[str] = (),
    ) -> None:
        """`unread`: queues that applications of other sites read."""
        self._unread = ("order-ack", "notification", *unread)
        self.around = around
        self.history = around.history
        self.scheduler = around.scheduler
        self.host = Host(around, process=process, disk=disk)
        network = Network(around.scheduler, around.chance, around.faults, self.host)
        self.context = ApplicationContext(around, self.host, network, queues)

    @property
    def process(self) -> Process:
        """Return the process that runs now, which must exist."""
        process = self.host.process
        assert process is not None, "no process runs"
        return process

    def until(self, done: Callable[[], bool], otherwise: str) -> None:
        """Continue until `done` is true; raise Violation with `otherwise` if it is never true."""
        if not self.scheduler.run_until(done, latest=self.scheduler.now + 10 * MINUTE):
            raise Violation(f"{otherwise}: {sorted(self.context.acting)}")

    def until_applications_end(self, otherwise: str) -> None:
        """Continue until all applications have ended."""
        self.until(lambda: not self.context.acting, otherwise)

    def until_idle(self) -> None:
        """Continue until the server has no more work."""
        self.until(lambda: self.host.ready and self.process.idle, "liveness: the server is never idle")

    def finish(self) -> None:
        """Repair the disk, and let all applications finish."""
        if self.host.process is not None:
            self.process.disk.mend()
        self.context.finishing = True
        self.until_applications_end("liveness: an application never finishes")
        if self.history.restores:
            self.until(lambda: self.host.ready, "liveness: the server does not start")
            self.context.enter(Resolver("resolver", self.context))
            self.until_applications_end("liveness: a transaction cannot be aborted")

    def read_to_the_end(self) -> None:
        """Read all queues to their end; journals come last, because reads fill them."""
        queues = self.process.manager.state.queues.values()
        records = [queue.record for queue in queues if queue.link is None]
        copies = [each for each in records if each.is_journal or each.kind is QueueType.SYSTEM]
        for these in ([each for each in records if each not in copies], copies):
            for record in these:
                if not record.pathname.endswith(self._unread):
                    self.context.enter(Drainer(f"drainer{record.number}", self.context, record.pathname))
            self.until_applications_end("liveness: a queue cannot be read to its end")
        self.until_idle()

    def restart(self) -> None:
        """Stop the process in order, and start a new one."""
        processes = self.history.processes
        self.process.stop()
        self.until(
            lambda: self.host.ready and self.history.processes > processes, "the server does not start"
        )
