"""Runs a seed with several sites and their faults; at the end all messages must have arrived.

Modules of this folder:

    run             the sites of a seed, from the first start to the last comparison
    plugin          the object that adds a protocol: machines, settings, network, applications, promises
    monitor         the checks of a protocol at one site while it runs
    witness         the general checks at one site, and the calls of the monitors
    reasons         why a message may leave an outgoing queue
    register        what all sites together know of a message
    chains          ways of messages over several protocols
    promises        what must hold in the end: loss, order, nothing left
    network         the hosts of the sites, and what all networks do
    requests        a network that carries requests and their answers over connections
    network_faults  what goes wrong between sites
    partitions      sites that cannot reach each other for a while
    shortages       sites that run out of disk space for a while
    applications    senders that write to other sites, and readers
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from reliquary.base.time import DAY, MINUTE, SECOND
from reliquary.queueing.travel.loopback import LOOPBACK
from reliquary.sim import restores
from reliquary.sim.applications import Application
from reliquary.sim.chance import SeededChance
from reliquary.sim.checkers import check_identifiers, check_refusals
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Violation
from reliquary.sim.process import ConnectedProtocol, Process, Surroundings
from reliquary.sim.reports import Report, failure_of
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.site import Site
from reliquary.sim.site_faults import SiteFaults
from reliquary.sim.world import shortages
from reliquary.sim.world.applications import INBOX, LEDGER, QueueCreator, readers_of
from reliquary.sim.world.chains import check_chains, drawn, drawn_chains
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Deliveries, check_left, check_loss, under_way
from reliquary.sim.world.register import Register
from reliquary.sim.world.shortages import Shortages
from reliquary.sim.world.witness import SiteWitness

NAMES: Final = ("a.example", "b.example", "c.example", "d.example")
LONGEST_TRANSACTION: Final = 4 * SECOND
"""The time after which every open transaction has ended, and its messages are available again."""
SILENCE_EVERY: Final = 10
"""In one of this number of seeds one site cannot reach another one for a long time ..."""
SILENCE: Final = 5 * SECOND
"""... at least for this time."""
ROUND: Final = 2 * SECOND
ROUNDS: Final = 30
"""The number of rounds without progress after which reading ends; together they last longer than any
timer."""


class World:
    """Several sites, and the networks of the protocols that are plugged in."""

    def __init__(
        self,
        seed: int,
        plugins: Sequence[Callable[[], Plugin]],
        *,
        process: type[Process] = Process,
        disk: type[SimulatedDisk] = SimulatedDisk,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.seed = seed
        self.chance = chance = SeededChance(seed)
        self.scheduler = Scheduler(chance)
        self.site_faults = SiteFaults.drawn(chance)
        if restores.are_due(seed):  # SentTime shows which messages are older only if the calendars agree
            self.site_faults.jump_every = 0
        self.plugins = tuple(make() for make in plugins)
        self.register = Register(self.plugins)
        self.network_faults = [each.draw_faults(chance) for each in self.plugins]
        several = len(self.plugins) > 1
        names = NAMES[: len(self.plugins) + 1 if several else chance.pick(self.plugins[0].site_counts)]
        for plugin in self.plugins:
            plugin.register = self.register
            plugin.draw_settings(chance, names)
        self.chains = drawn_chains(chance, self.plugins, names)
        self.networks = [
            plugin.network(self.scheduler, chance, faults)
            for plugin, faults in zip(self.plugins, self.network_faults, strict=True)
        ]
        self.sites = {name: self._build_site(name, process, disk, say) for name in names}
        self.register.chains = {each.entry: each for each in self.chains}
        self.shortages: Shortages | None = None

    def _build_site(
        self,
        name: str,
        process: type[Process],
        disk: type[SimulatedDisk],
        say: Callable[[str], None] | None,
    ) -> Site:
        """Build a site with a machine of each protocol, and connect it to their networks."""
        history = History(partial(_say, say, name) if say else None, sendings=self.register.sendings)
        witness = SiteWitness(history, self.register, name)
        around = Surroundings(
            scheduler=self.scheduler,
            chance=self.chance,
            faults=self.site_faults,
            history=history,
            witness=witness,
            computer=name.partition(".")[0].upper(),
            plugged=(
                ConnectedProtocol(LOOPBACK),
                *(
                    ConnectedProtocol(
                        plugin.protocol(name), plugin.first_events(name), partial(network.perform, name)
                    )
                    for plugin, network in zip(self.plugins, self.networks, strict=True)
                ),
            ),
        )
        site = Site(around, (INBOX, LEDGER), process=process, disk=disk, unread=self._fetched)
        witness.host = site.host
        for network in self.networks:
            network.join(name, site.host)
        return site

    @property
    def _fetched(self) -> list[str]:
        return sorted({queue for plugin in self.plugins for queue in plugin.fetched_queues})

    @property
    def name(self) -> str:
        """Return the names of the protocols in the form for `--world`."""
        return "+".join(each.name for each in self.plugins)

    @property
    def steps(self) -> int:
        """Return the number of turns of all managers together before the faults end."""
        return max(each.steps for each in self.plugins)

    # -- the run

    def play(self, steps: int) -> None:
        """Run from the first start to the last comparison."""
        for name, site in self.sites.items():
            site.host.boot()
            site.context.enter(QueueCreator(f"{name}/creator", site.context, self._fetched))
        for site in self.sites.values():
            site.until_applications_end("the queues could not be created")
        for name, site in self.sites.items():
            for application in self._applications(name):
                site.context.enter(application)
        if shortages.are_due(self.seed):
            hosts = [each.host for each in self.sites.values()]
            self.shortages = Shortages(self.scheduler, self.chance, hosts)
        if restores.are_due(self.seed):
            restores.run_with_restores(
                self.chance, [each.host for each in self.sites.values()], steps, self._until_turn
            )
        if self.seed % SILENCE_EVERY == SILENCE_EVERY // 2:
            self._silence(steps)
        self._until_turn(steps)
        self._end_faults()
        self._compare()
        self._drain()
        self._compare()
        self._check_promises()
        for site in self.sites.values():
            site.restart()
        self._compare()

    def _silence(self, steps: int) -> None:
        """Prevent one site from reaching another, for longer than most messages are valid."""
        self._until_turn(self.chance.between(0, steps // 2))
        one, other = drawn(self.chance, list(self.sites), 2)
        for faults in self.network_faults:
            faults.silenced = one, other
        self._until_turn(steps)
        self.scheduler.pass_time(SILENCE)

    def _applications(self, name: str) -> Iterator[Application]:
        context, others = self.sites[name].context, tuple(each for each in self.sites if each != name)
        for plugin in self.plugins:
            yield from plugin.applications(name, context, others)
        for chain in self.chains:
            yield from chain.senders(name, context)
        yield from readers_of(name, context)

    def _check_promises(self) -> None:
        deliveries = Deliveries(self.register)
        check_loss(self.register, deliveries)
        for plugin in self.plugins:
            plugin.check_promises(deliveries)
        check_chains(self.chains, deliveries)
        check_identifiers(witness.history for witness in self.register.sites.values())
        for witness in self.register.sites.values():
            check_refusals(witness.history, witness.ledger)

    @property
    def turns(self) -> int:
        """Return the number of turns at all sites."""
        return sum(len(site.history.turns) for site in self.sites.values())

    def _end_faults(self) -> None:
        """End all faults, and let every application finish."""
        self.site_faults.end()
        if self.shortages is not None:
            self.shortages.end()
        for faults in self.network_faults:
            faults.end()
        for site in self.sites.values():
            site.context.finishing = True
        for site in self.sites.values():
            site.finish()
        self.scheduler.pass_time(LONGEST_TRANSACTION)
        for site in self.sites.values():
            site.until_idle()

    def _drain(self) -> None:
        """Read all queues, and check that no message or POST for another site is left."""
        self._read_to_the_end()
        if self._under_way():  # a calendar was set back: a message is too old for all sites but its sender
            for site in self.sites.values():
                site.host.calendar.jump(DAY)
            self._read_to_the_end()
        settling = max(plugin.settling for plugin in self.plugins)
        self.scheduler.pass_time(max(ROUND, settling))  # the last answers are on their way
        self._read_to_the_end()  # a receipt may be due for the last arrivals
        for name, site in self.sites.items():
            check_left(name, {"messages": under_way(site.process.manager.state, self.register)})
            for plugin in self.plugins:
                check_left(name, plugin.left_behind(site.process))

    def _read_to_the_end(self) -> None:
        """Read queues until no message is being transferred, or nothing changes; final receipts need
        readers."""
        fewest, rounds = self._under_way(), 0
        while rounds < ROUNDS:
            for site in self.sites.values():
                site.read_to_the_end()
            count = self._under_way()
            if not count:
                break
            fewest, rounds = min(fewest, count), 0 if count < fewest else rounds + 1
            self.scheduler.pass_time(ROUND)

    def _under_way(self) -> int:
        """Return the number of messages in outgoing queues."""
        return sum(sum(under_way(each.manager.state, self.register).values()) for each in self._processes())

    def _processes(self) -> Iterator[Process]:
        for site in self.sites.values():
            yield site.process

    def _compare(self) -> None:
        for site in self.sites.values():
            site.until_idle()
            site.process.checkpoint()

    def _until_turn(self, turns: int) -> None:
        self._until(lambda: self.turns >= turns, "the applications make no progress")

    def _until(self, done: Callable[[], bool], otherwise: str) -> None:
        if not self.scheduler.run_until(done, latest=self.scheduler.now + 10 * MINUTE):
            raise Violation(otherwise)


def simulate(
    seed: int,
    plugins: Sequence[Callable[[], Plugin]],
    steps: int | None = None,
    *,
    process: type[Process] = Process,
    disk: type[SimulatedDisk] = SimulatedDisk,
    say: Callable[[str], None] | None = None,
) -> Report:
    """Run a seed. The report has a broken promise or an error of a machine."""
    world = World(seed, plugins, process=process, disk=disk, say=say)
    options = f" --world {world.name}" + ("" if steps in (None, world.steps) else f" --steps {steps}")
    steps = world.steps if steps is None else steps
    failure = failure_of(partial(world.play, steps))
    return Report.of(seed, steps, [site.history for site in world.sites.values()], failure, options)


def _say(say: Callable[[str], None], name: str, line: str) -> None:
    say(f"{name[0]} {line}")
