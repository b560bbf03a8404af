"""Begin a new era after the store was restored from a backup, and recognise messages of older eras.

    era 0            backup        lost with the old store          era 1
    ----------------------|- - - - - - - - - - - - - - - -|-----------------------------> time
    numbers up to `floor` |  numbers that peers have seen |  numbers after the jump
                          |                 `alive_until` |

A restored manager does not know what it did after the backup, but its peers do.  So it must not assign a
number that it may have assigned before: its messages have identifiers of a new *lineage*, and SequentialID
jumps.  Carriers get the signal `EraBegan` and begin new streams, channels and sequences.

The manager does not guess.  A message that waited when the backup was made may have been delivered since
(`of_older_era`); a message that its sender sends again may have arrived since (`may_have_come`).  Where a
carrier promises exactly one delivery and cannot ask its peer, the message goes to a dead-letter queue with
the reason NACK_SOURCE_COMPUTER_GUID_CHANGED, the term of [MS-MQMQ] for this case.
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
"""SequentialID continues at the next multiple of 2**40: no manager assigns 2**40 numbers in one era."""
_CLOCK_BEGAN: Final = 1_577_836_800 * SECOND
"""The beginning of 2020, in microseconds since 1970."""
_CLOCK_SHIFT: Final = 4
"""SequentialID continues after 2**4 = 16 numbers for each microsecond since `_CLOCK_BEGAN`."""
_LATEST: Final = 1 << (LANE_SHIFT - 1)
"""A clock that leads to this number or a higher one (in 2091) is ignored, because numbers would run out."""


def begin(state: State, restoration: Restoration, now: Instant) -> None:
    """Begin the era of a restored store; repeated calls for one restoration begin only one era."""
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
        floor=state.numbers.sequence,
    )
    apply(state, facts.ManagerNamed(msgspec.structs.replace(record, era=era)))
    state.numbers.sequence = _beginning(state.numbers.sequence, now)
    if EraBegan in state.subscribed:
        state.draft.signal(EraBegan(era))
    why = "messages whose delivery is not known go to the dead-letter queues"
    state.draft.ask(Warn(record.computer_name, f"the store was restored, era {era.number} begins", why))


def _beginning(sequence: int, now: Instant) -> int:
    """Return the number after which an era begins: all numbers of earlier eras are below it.

    Two restores of one backup have one last number in common.  All numbers that the first one assigned are
    below the clock of the second one, because no manager assigns 16 numbers in a microsecond.
    """
    by_clock = max(now - _CLOCK_BEGAN, 0) << _CLOCK_SHIFT
    return max(((sequence >> _ERA_SHIFT) + 1) << _ERA_SHIFT, by_clock if by_clock < _LATEST else 0)


def of_older_era(state: State, lookup_id: int) -> bool:
    """Return whether a message is older than the restore: it may have been delivered after the backup."""
    era = state.manager.era
    return era is not None and lookup_id & SEQUENCE_MASK <= era.floor


def may_have_come(state: State, message: Message) -> bool:
    """Return whether an arriving message may have arrived between backup and restore, by its SentTime."""
    era = state.manager.era
    return era is not None and 0 < message.sent_time <= era.alive_until // SECOND
