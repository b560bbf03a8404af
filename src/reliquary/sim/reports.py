"""Reports the result of a run in one line; a failure names the command that repeats it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from reliquary.sim.history import History, Violation


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run."""

    seed: int
    steps: int
    failure: str
    """The broken promise; empty if there was none."""
    turns: int
    sent: int
    received: int
    processes: int
    restores: int
    failures: int
    checkpoints: int
    digest: str
    options: str = ""
    """The options that repeat the run, besides the seed."""

    @classmethod
    def of(cls, seed: int, steps: int, histories: Sequence[History], failure: str, options: str) -> Report:
        """Return the report with the sums of the histories of all hosts."""
        return cls(
            seed=seed,
            steps=steps,
            failure=failure,
            turns=sum(len(history.turns) for history in histories),
            sent=len(histories[0].sendings),
            received=sum(len(history.consumed) for history in histories),
            processes=sum(history.processes for history in histories),
            restores=sum(history.restores for history in histories),
            failures=sum(history.failures for history in histories),
            checkpoints=sum(history.checkpoints for history in histories),
            digest=sha256("".join(history.digest for history in histories).encode()).hexdigest(),
            options=options,
        )

    @property
    def command(self) -> str:
        """Return the command line that repeats this run."""
        return f"./dev sim --seed {self.seed}{self.options}"

    def __str__(self) -> str:
        verdict = f"BROKEN: {self.failure}\n  again: {self.command}" if self.failure else "ok"
        return (
            f"seed {self.seed}: {self.turns} turns, {self.sent} sent, {self.received} received,"
            f" {self.processes} processes, {self.restores} restores, {self.failures} disk failures,"
            f" {self.checkpoints} checkpoints: {verdict}"
        )


def failure_of(play: Callable[[], None]) -> str:
    """Run the simulation; return the broken promise, or the exception of a machine, as a sentence."""
    try:
        play()
    except Violation as broken:
        return str(broken)
    except Exception as broken:  # noqa: BLE001 - an exception of a machine is a finding, too
        return f"{type(broken).__name__}: {broken} ({_place(broken)})"
    return ""


def _place(broken: BaseException) -> str:
    """Return the last three frames of the failure."""
    steps = []
    trace = broken.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        steps.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " > ".join(steps[-3:])
