"""Runs a server from its settings to its exit code.

start --> ready: addresses are printed --> signal --> orderly stop --> 0
  |                      |                               |
  '-- one sentence,      '-- the disk fails, or we are   '-- a second signal:
      a named code           wrong: one sentence, out        out at once

SIGHUP lets a server that is ready read its settings anew (`reload`).
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from typing import Final, NoReturn
from urllib.parse import quote

import uvloop

from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure, UsageError
from reliquary.console.acts import REFUSED
from reliquary.engine.warnings import LOG
from reliquary.net.clock import RealClock
from reliquary.net.tcp.descriptors import raise_limit
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.server import logs
from reliquary.server.build import Server, build, release
from reliquary.server.cautions import cautions, open_addresses
from reliquary.server.config import Settings
from reliquary.server.exits import Exit, exit_of
from reliquary.server.first_queues import make_queues
from reliquary.server.logs import LogFormat
from reliquary.server.queue_entries import make_entries

SWITCH_SECONDS: Final = 0.0002
"""How long the store's thread may wait for the interpreter after a sync; Python's 5 ms equal ten syncs."""
COLLECT_SELDOM: Final = (100_000, 50, 1000)
"""The interval of garbage collection; the code for messages makes no cycles, so it is rarely needed."""

_BOUND: Final = re.compile(r"address \('([^']+)', (\d+)")
"""The address that asyncio could not bind, in its sentence."""
_PORTS: Final = {
    "data": "--port (data_port)",
    "data with TLS": "data_tls_port",
    "control": "--control-port (control_port)",
}
"""The settings of the ports of both planes."""


def serve(settings: Settings, read: Callable[[], Settings] | None = None) -> int:
    """Run until a signal comes, and return the exit code.  `read` reads the settings again."""
    if not __debug__:
        return _refuse(Exit.USAGE, "assertions must stay on: start Python without -O and PYTHONOPTIMIZE")
    logs.begin(settings.log_format, RealClock(), settings.log_level)
    raise_limit()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECT_SELDOM)
    leave_out_pandas()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(settings, read))


def leave_out_pandas() -> None:
    """Let no module of this process import pandas.

    PyArrow imports it with the first array, if it is installed: half a second of processor time and 60
    MB of memory during work, for conversions that a server does not make.
    """
    sys.meta_path.insert(0, _NoPandas())


class _NoPandas(MetaPathFinder):
    """A finder that reports pandas as not installed."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse to look for pandas; leave all other modules to the other finders."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out of this process", name=name)


async def _serve(settings: Settings, read: Callable[[], Settings] | None) -> int:
    stop = asyncio.Event()
    _watch_signals(stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # ignored before there is something to reload
    try:
        server = await build(settings)
    except (StoreFailure, StoreDamage, StartFailed, UsageError) as why:
        return _refuse(exit_of(why), str(why), settings.log_format)
    server.opened.engine.on_failure = _die
    server.reloader.read = read
    try:
        return await _work(server, settings, stop)
    except Exception as why:  # noqa: BLE001 - with threads and sockets still there, only one way out is sure
        _die(why)


async def _work(server: Server, settings: Settings, stop: asyncio.Event) -> int:
    try:
        addresses = None
        if not server.opened.started.done():  # outcomes come over the network
            addresses = await server.listen(settings)
            _tell_of_doubt(server, *addresses)
            if not await _is_ready(server, stop):
                await server.stop()
                return Exit.OK
        await make_queues(server.opened, settings.queues)
        await make_entries(server.opened, server.users, settings.queue)
        data, control = addresses or await server.listen(settings)
    except (UsageError, StartFailed) as why:
        await server.stop()
        return _refuse(exit_of(why), str(why), settings.log_format)
    except OSError as why:
        await server.stop()
        return _refuse(Exit.PORT_IN_USE, _no_address(server, settings, why), settings.log_format)
    acts = server.reloader.acts
    await acts.note(MANAGER.name, "", "start-server", settings.computer_name, detail=release())
    reloads: set[asyncio.Task[None]] = set()
    _watch_hangup(server, reloads)
    _welcome(settings, data, control, server)
    for caution in cautions(settings, server.opened.state, server.users):
        LOG.warning(caution)
    await stop.wait()
    asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
    await asyncio.gather(*reloads)
    await acts.note(MANAGER.name, "", "stop-server", settings.computer_name)
    await server.stop()
    return Exit.OK


def _watch_hangup(server: Server, reloads: set[asyncio.Task[None]]) -> None:
    """Read the settings anew at every SIGHUP; `reloads` has those that have not ended."""

    def on_hangup() -> None:
        task = asyncio.get_running_loop().create_task(_reload(server))
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, on_hangup)


async def _reload(server: Server) -> None:
    """Read the settings again, and log the result."""
    acts, act = server.reloader.acts, "reload-config"
    try:
        report = await server.reloader.reload()
    except UsageError as why:
        LOG.error(
            "the settings cannot be read, and nothing has changed: %s; correct them and repeat the reload",
            why,
        )
        await acts.note(MANAGER.name, "SIGHUP", act, outcome=REFUSED, why=str(why))
        return
    applied = ", ".join(report.applied) or "nothing"
    LOG.warning("the settings were read again: %s", f"{applied} changed")
    if report.restart:
        LOG.warning("these settings come into force with the next start: %s", ", ".join(report.restart))
    for note in (*report.notes, *cautions(server.reloader.settings, server.opened.state, server.users)):
        LOG.warning(note)
    await acts.note(MANAGER.name, "SIGHUP", act, detail=f"applied: {applied}")


async def _is_ready(server: Server, stop: asyncio.Event) -> bool:
    """Return whether the start is complete before a signal ends it; raise StartFailed if it is impossible."""
    ready, stopped = asyncio.ensure_future(server.opened.ready()), asyncio.ensure_future(stop.wait())
    await asyncio.wait((ready, stopped), return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not ready.done():
        ready.cancel()
        return False
    await ready
    return True


def _tell_of_doubt(server: Server, data: str, control: str) -> None:
    count = len(server.opened.state.transactions.open)
    sys.stdout.write(
        f"Reliquary waits for the outcome of {count} transactions before it is ready.\n"
        f"  data plane     {data}\n"
        f"  control plane  {control}\n"
    )
    sys.stdout.flush()


def _watch_signals(stop: asyncio.Event) -> None:
    def on_signal() -> None:
        if stop.is_set():
            _leave(Exit.INTERRUPTED, logging.WARNING, "stopped at once; what was acknowledged is safe")
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, on_signal)


def _refuse(code: Exit, why: str, form: LogFormat = LogFormat.TEXT) -> Exit:
    """Write the reason why the server does not start, in the form of all commands.

    With JSON output, as JSON.
    """
    if form is LogFormat.JSON:
        LOG.critical(why)
    else:
        sys.stderr.write(f"reliquary: {why}\n")
    return code


def _leave(code: Exit, level: int, why: str, bug: BaseException | None = None) -> NoReturn:
    """End the process at once, so that no pending answer is sent."""
    try:
        LOG.log(level, why, exc_info=bug)
    finally:  # stderr may be a file on the full disk
        os._exit(code)


def _die(failure: BaseException) -> NoReturn:
    """Write the reason why the engine stopped, and that every confirmed message is on disk."""
    bug = None
    if not isinstance(failure, StoreFailure | StoreDamage):
        bug = failure
        failure = AssertionError(f"a bug stopped the server: {type(failure).__name__}: {failure}")
    _leave(exit_of(failure), logging.CRITICAL, f"{failure}; what was acknowledged before is safe", bug)


def _no_address(server: Server, settings: Settings, why: OSError) -> str:
    data, control = settings.data_host, settings.control_host
    own = [address for endpoint in server.endpoints for address in endpoint.own_addresses()]
    secured = [] if settings.data_tls_port is None else [f"{data}:{settings.data_tls_port} (data with TLS)"]
    wanted = [
        f"{data}:{settings.data_port} (data)",
        *secured,
        *own,
        f"{control}:{settings.control_port} (control)",
    ]
    return listening_failure(wanted, why)


def listening_failure(wanted: Sequence[str], why: OSError) -> str:
    """Return the sentence about an address that a server cannot listen at, and what to do.

    >>> why = OSError(98, "bind on address ('127.0.0.1', 80): address already in use")
    >>> listening_failure(["127.0.0.1:80 (data)", "127.0.0.1:81 (control)"], why)
    '127.0.0.1:80 (data) is in use: stop what listens there, or choose another port with --port (data_port)'
    """
    text = why.strerror or str(why)
    found = _BOUND.search(text)
    address = "" if found is None else f"{found[1]}:{found[2]} ("
    one = next((each for each in wanted if found is not None and each.startswith(address)), None)
    if one is None:
        return f"no address for {', '.join(wanted)}: {text}; data_port and control_port choose other ports"
    name = one.rpartition("(")[2].rstrip(")")
    advice = _PORTS.get(name) or f"the settings of [{name.lower()}]"
    match why.errno:
        case errno.EADDRINUSE:
            return f"{one} is in use: stop what listens there, or choose another port with {advice}"
        case errno.EACCES:
            return (
                f"{one} needs a right that this user does not have: choose a port from 1024 on with {advice}"
            )
        case _:
            return f"{one} cannot be listened at: {os.strerror(why.errno or 0)}; change it with {advice}"


def _welcome(settings: Settings, data: str, control: str, server: Server) -> None:
    """Write the addresses, and the names by which others send to this server and read from it."""
    queue = settings.queues[0] if settings.queues else "orders"
    curl = 'curl -H "Authorization: Bearer $RELIQUARY_TOKEN"' if settings.users else "curl"
    create = "" if settings.queues else f'  {curl} {control}/api/v1/queues -d \'{{"name": "{queue}"}}\'\n'
    addresses = [name for endpoint in server.endpoints for name in endpoint.names_of(queue)]
    readers = [name for endpoint in server.endpoints for name in endpoint.reading_names_of(queue)]
    path = f"{data}/api/v1/queues/{quote(queue, safe='')}"
    sys.stdout.write(
        f"Reliquary {release()} is ready.\n"
        f"  data plane     {data}\n"
        + "".join(f"  with TLS       {each.url}\n" for each in server.bound[1:])
        + f"  control plane  {control}\n"
        f"  web console    {control}/console\n"
        f"  messages in    {settings.folder.resolve()}\n"
        + "".join(f"  open to all    {host}: no users are named\n" for host in open_addresses(settings))
        + "".join(f"  others send to {address}\n" for address in addresses)
        + "".join(f"  others read    {address}\n" for address in readers)
        + f"\nTry:\n{create}"
        f'  {curl} {path}/messages -d \'{{"text": "hello"}}\'\n'
        f"  {curl} {path}/messages\n"
        f"  {curl} {path}/receive -d '{{\"timeout\": 5}}'\n"
    )
    sys.stdout.flush()
