"""Lists the nouns of administration of a manager; `queueing/model/administration.py` defines nouns.

Transports, a plane of the server, command line and reference page have a noun that is listed here.
These parts do not follow from the declarations:

    queue         Create and change take settings, delete and purge answer a count, which no other act does,
                  and the command `list` leaves out records that the server sends.
    transaction   Commit and abort are requests of applications, which the client repeats by rules of its own.
    stream        SRMP and MQQB both have streams; the noun of both is declared in `client.streams`.
    consumer      Open, move and remove are requests of readers of feeds that name it in the body or in the
                  query, and the commands `list` and `show` join it with its feed and a plan.
    writer        Forget takes a query or one of its names in place of a key.
"""

from __future__ import annotations

from typing import Any, Final

from reliquary.client.streams import STREAM
from reliquary.protocols.httpr.nouns import CHANNEL
from reliquary.protocols.mqqb.nouns import SESSION
from reliquary.protocols.mqqp.nouns import RPC
from reliquary.protocols.wsrm.nouns import SEQUENCE
from reliquary.queueing.model.administration import Noun
from reliquary.views.consumers import CONSUMER
from reliquary.views.outgoing_queues import OUTGOING
from reliquary.views.queues import QUEUE
from reliquary.views.transactions import TRANSACTION
from reliquary.views.writers import WRITER

NOUNS: Final[tuple[Noun[Any], ...]] = (
    QUEUE, TRANSACTION, OUTGOING, STREAM, CHANNEL, SEQUENCE, RPC, SESSION, CONSUMER, WRITER,
)  # fmt: skip
