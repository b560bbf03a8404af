"""Eras: what a manager does differently after its store was restored from a backup.

    era 0            backup        lost with the old store          era 1
    ----------------------|- - - - - - - - - - - - - - - -|-----------------------------> time
    numbers up to `floor` |  numbers that peers have seen |  numbers after the jump
                          |                 `alive_until` |

A restored manager has forgotten what it did after the backup, and its peers have not.  So it gives out no
number that the old one may have given out: its messages have identifiers of a new *lineage*, and SequentialID
jumps.  Carriers hear `EraBegan` and begin new streams, channels and sequences.

What cannot be known is not guessed.  A message that waited when the backup was made may have been delivered
since (`of_older_era`); a message that its sender sends again may have arrived since (`may_have_come`).  Where
a carrier promises exactly one delivery and cannot ask its peer, the message goes to a dead-letter queue with
the reason NACK_SOURCE_COMPUTER_GUID_CHANGED, the word of [MS-MQMQ] for this case.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.restoration import Restoration
from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Warn
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.queue import Era
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LANE_SHIFT, SEQUENCE_MASK
from reliquary.queueing.model.travel.transfer import EraBegan

NOT_KNOWN: Final = MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED
"""The reason of a dead letter whose delivery before a restore is not known."""
_ERA_SHIFT: Final = 40
"""SequentialID goes on at the next multiple of this power of two: no manager gives out so many in one era."""
_CLOCK_BEGAN: Final = 1_577_836_800 * SECOND
"""2020, in microseconds since 1970 ..."""
_CLOCK_SHIFT: Final = 4
"""... and SequentialID goes on after 16 numbers for each microsecond since then."""
_LATEST: Final = 1 << (LANE_SHIFT - 1)
"""A clock that is so far ahead (2091) is not asked: numbers would run out."""


def begin(state: State, restoration: Restoration, now: Instant) -> None:
    """Begin the era of a restored store; once for each restoration."""
    record = state.identity()
    before = record.era
    if before is not None and before.restoration == restoration.identifier:
        return
    era = Era(
        number=1 if before is None else before.number + 1,
        restoration=restoration.identifier,
        lineage=new_guid(state.chance),
        began=now,
        alive_until=restoration.alive_until or now,
        floor=state.sequence,
    )
    apply(state, facts.ManagerNamed(msgspec.structs.replace(record, era=era)))
    state.sequence = _beginning(state.sequence, now)
    if EraBegan in state.heard:
        state.draft.tell(EraBegan(era))
    why = "messages whose delivery is not known go to the dead-letter queues"
    state.draft.ask(Warn(record.computer_name, f"the store was restored, era {era.number} begins", why))


def _beginning(sequence: int, now: Instant) -> int:
    """The number after which an era begins: none of an earlier era is above it.

    Two restores of one backup know the same last number.  What the first of them gave out is below the
    clock of the second, because no manager gives out 16 numbers in a microsecond.
    """
    by_clock = max(now - _CLOCK_BEGAN, 0) << _CLOCK_SHIFT
    return max(((sequence >> _ERA_SHIFT) + 1) << _ERA_SHIFT, by_clock if by_clock < _LATEST else 0)


def of_older_era(state: State, lookup_id: int) -> bool:
    """Whether a message was here when the backup was made: the old manager may have delivered it since."""
    era = state.era
    return era is not None and lookup_id & SEQUENCE_MASK <= era.floor


def may_have_come(state: State, message: Message) -> bool:
    """Whether a message that arrives may have arrived before, after the backup; SentTime says so."""
    era = state.era
    return era is not None and 0 < message.sent_time <= era.alive_until // SECOND
