"""Tests the kinds of alarms: each has its advice, and the page of alarms can show each.

`tests/deploy/test_files.py` compares them with the alert rules.
"""

from __future__ import annotations

import inspect
import re

from reliquary.console.web import alarms
from reliquary.console.web.alarm_kinds import ADVICE, AlarmKind, Weight


def test_every_kind_has_an_advice_of_its_own() -> None:
    assert list(ADVICE) == list(AlarmKind)
    assert len(set(ADVICE.values())) == len(AlarmKind)
    assert all(kind.advice.endswith(".") for kind in AlarmKind)
    assert AlarmKind.NEARLY_FULL.weight is Weight.BAD
    assert AlarmKind.DEAD_LETTERS.weight is Weight.LOOK


def test_every_kind_is_raised_somewhere() -> None:
    assert set(re.findall(r"AlarmKind\.([A-Z_]+)", inspect.getsource(alarms))) == set(AlarmKind.__members__)
