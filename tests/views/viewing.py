"""Helpers with a manager without protocols, in the view of one user."""

from __future__ import annotations

from typing import TypeVar

from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import State

M = TypeVar("M")


class ManagerAlone:
    """The machines of a manager without protocols."""

    def __init__(self, state: State) -> None:
        self.state = state

    def machine(self, kind: type[M]) -> M:
        raise AssertionError(f"no {kind} runs beside this manager")


def view_of(state: State, by: Principal = MANAGER) -> View:
    return View(ManagerAlone(state), by)
