"""The audit once more, over plain rows and one message at a time: slow, short, written from the guide alone.

Spark's answer must be equal.  It knows nothing of masks, hashes or shares of work.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from tests.spark.pipelines.audit.world import HOUR, SECOND, Expected, Row

ENTRIES = {"accepted", "arrived", "queued", "committed"}
GONE = {"received", "expired", "purged", "rejected", "moved", "dead-lettered", "poisoned"}
OUT_OF_LINE = {"returned", "released", "delayed", "due", "prepared", "moved", "poisoned", "rejected"}
SETTLED = GONE | ENTRIES | {"released", "delivered", "aborted", "returned"}
COPIES = {"journal", "dead-letter"}


@dataclass
class Gathered:
    """The events of one message at one manager."""

    manager: str
    rows: list[Row] = field(default_factory=list)
    identifier: str | None = None

    def of(self, *events: str) -> list[Row]:
        return [row for row in self.rows if row["event"] in events and row["queue_kind"] not in COPIES]

    def has(self, *events: str) -> bool:
        return bool(self.of(*events))

    @property
    def entry(self) -> Row | None:
        return next(iter(self.of(*ENTRIES)), None)

    @property
    def unpromised(self) -> bool:
        """An express message, or one that a manager wrote to another."""
        receipt = any(row["protocol"] == "manager" or row["reason"] for row in self.of(*ENTRIES))
        return receipt or any(row["durable"] is False for row in self.rows)

    @property
    def start(self) -> int:
        assert self.entry is not None
        return int(max([row["time"] for row in self.of("due")] + [self.entry["time"]]))

    @property
    def fetched(self) -> list[Row]:
        return [row for row in self.of("received") if row["protocol"] == "httpr"]

    @property
    def left(self) -> Row | None:
        out = [row for row in self.of("delivered") if row["protocol"] != "multicast"] + self.fetched
        return max(out, key=lambda row: row["event_id"], default=None)


class Reference:
    """All findings of these rows."""

    def __init__(
        self,
        rows: list[Row],
        *,
        late: int = HOUR,
        doubt: int = HOUR,
        grace: int = 300 * SECOND,
        in_order: str = "",
        any_order: str = "",
    ) -> None:
        self.late, self.doubt, self.grace = late, doubt, grace
        self.in_order, self.any_order = in_order, any_order
        self.found: set[Expected] = set()
        self.names_of: dict[tuple[str, ...], list[tuple[bool, int, Expected]]] = defaultdict(list)
        """All names of one loss: whether it is open, how strong the name is, and the finding."""
        self.unjudged = 0
        self.names = {row["manager_name"].lower(): row["manager"] for row in rows}
        self.covered = self._cover(rows)
        self.events = self._gather(rows)
        self.by_identifier: dict[str, list[Gathered]] = defaultdict(list)
        for each in self.events:
            if each.identifier:
                self.by_identifier[each.identifier].append(each)
        self._passages()
        self._queues()
        for chosen in self.names_of.values():
            is_open, _, finding = min(chosen)
            if is_open:
                self.unjudged += 1
            else:
                self.found.add(finding)

    # -- what there is

    def _gather(self, rows: list[Row]) -> list[Gathered]:
        gathered: dict[tuple[str, object], Gathered] = {}
        for row in sorted(rows, key=lambda row: row["event_id"]):
            if row["event"] == "gap" or not (row["message"] or row["message_id"]):
                continue
            each = gathered.setdefault(
                (row["manager"], row["message"] or row["message_id"]), Gathered(row["manager"])
            )
            each.rows.append(row)
            each.identifier = each.identifier or row["message_id"]
        return list(gathered.values())

    def _cover(self, rows: list[Row]) -> dict[str, list[tuple[int, int]]]:
        """Return the stretches of time without a gap, of each manager."""
        managers: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            managers[row["manager"]].append(row)
        covered = {}
        for manager, chosen in managers.items():
            chosen.sort(key=lambda row: row["event_id"])
            begin = 0 if chosen[0]["event_id"] == 1 and chosen[0]["event"] != "gap" else chosen[0]["time"]
            stretches = []
            for one, two in pairwise(chosen):
                if two["event_id"] != one["event_id"] + 1 or two["event"] == "gap":
                    stretches.append((begin, one["time"]))
                    begin = two["time"]
            covered[manager] = [*stretches, (begin, chosen[-1]["time"])]
        return covered

    def _judge(
        self, finding: Expected, managers: set[str] | None, since: int, until: int, rank: int = 0
    ) -> None:
        """Note a finding if the managers' histories cover it; of several with a rank only one counts."""
        known = managers is not None and all(
            any(begin <= since and until <= end for begin, end in self.covered.get(manager, ()))
            for manager in managers
        )
        if rank:
            self.names_of[finding[1:]].append((not known, rank, finding))
        elif known:
            self.found.add(finding)
        else:
            self.unjudged += 1

    # -- between managers

    def _there(self, source: Gathered) -> list[Gathered]:
        """Return what other managers, or this one by another way, record of a message that left."""
        assert source.identifier is not None
        return [
            each
            for each in self.by_identifier[source.identifier]
            if each is not source
            and (
                each.manager != source.manager
                or any(row["queue_kind"] == "local" for row in each.of("arrived"))
            )
            and (each.has("arrived") or not each.has("accepted", "queued", "prepared", "committed"))
        ]

    def _passages(self) -> None:
        sources = [
            each
            for each in self.events
            if each.identifier and ((each.entry and each.entry["queue_kind"] == "outgoing") or each.fetched)
        ]
        places: dict[tuple[str, str], list[Gathered]] = defaultdict(list)
        for source in sources:
            assert source.entry is not None
            places[source.manager, source.entry["queue"]].append(source)
        for (manager, queue), chosen in places.items():
            self._place(manager, queue, chosen)

    def _place(self, manager: str, queue: str, sources: list[Gathered]) -> None:
        there = {id(source): self._there(source) for source in sources}
        reached = {each.manager for chosen in there.values() for each in chosen if each.has("arrived")}
        named = {
            self.names[name]
            for name in self.names
            if f"://{name}/" in queue.lower() or f"os:{name}\\" in queue.lower()
        }
        to = reached or named or None
        lines: dict[object, list[tuple[int, int, Gathered]]] = defaultdict(list)
        last = (0, 0)
        for source in sources:
            assert source.entry is not None
            lineage = str(source.identifier).partition("\\")[0]
            for each in there[id(source)]:
                arrived = each.of("arrived")
                if arrived and not source.has(*OUT_OF_LINE):
                    number, stream = arrived[0]["stream_number"], arrived[0]["stream"]
                    if arrived[0]["protocol"] == "wsrm":
                        stream, _, text = arrived[0]["batch"].partition(":")
                        number = int(text)
                    if number is not None:
                        last = max(last, (source.entry["event_id"], arrived[0]["time"]))
                        line: object = (each.manager, arrived[0]["queue"], stream, lineage)
                        lines[line].append((arrived[0]["event_id"], number, source))
                    elif arrived[0]["protocol"] == "httpr":
                        channel = (arrived[0]["batch"] or "").partition(":")[0]
                        line = (
                            each.manager,
                            arrived[0]["queue"],
                            source.entry["lookup_id"] >> 56,
                            lineage,
                            channel,
                        )
                        lines[line].append((arrived[0]["event_id"], source.entry["event_id"], source))
        for source in sources:
            self._passage(source, there[id(source)], to, last)
        for chosen in lines.values():
            self._line([(came, turn, source, manager, queue) for came, turn, source in chosen])

    def _passage(
        self, source: Gathered, there: list[Gathered], to: set[str] | None, last: tuple[int, int]
    ) -> None:
        entry, left = source.entry, source.left
        assert entry is not None
        assert source.identifier is not None
        place = (source.identifier, source.manager, entry["queue"])
        acknowledged = [
            row for row in source.of("acknowledged") if row["reason"] in {"ack-reach-queue", "ack-receive"}
        ]
        since = entry["time"] - self.grace
        transactional = any(row["transaction"] or row["stream"] for row in source.rows)
        on_the_way = left is None and transactional and not source.has(*GONE)
        overtaken = entry["event_id"] < last[0]
        sent = [row for row in source.of("sent") if row["protocol"] != "multicast"]
        if not there and not source.unpromised:
            if acknowledged:
                until = acknowledged[0]["time"] + self.grace
                self._judge(("acknowledged", *place), to, since, until, 1)
            elif left is not None:
                self._judge(("lost", *place), to, since, left["time"] + self.grace, 3)
            if on_the_way and overtaken and (sent or source.has("held")) and not source.has(*OUT_OF_LINE):
                self._judge(("lost", *place), to, since, last[1] + self.grace, 4)
            if on_the_way and not overtaken and sent:
                until = sent[-1]["time"] + self.late
                if until <= self.covered[source.manager][-1][1]:
                    self._judge(("lost", *place), to, since, until + self.grace, 5)
        for each in there:
            if not each.has("arrived"):
                continue
            arrival = each.of("arrived")[0]
            read = [row for row in acknowledged if row["reason"] == "ack-receive"]
            if read and not each.has(*GONE) and not source.unpromised:
                until = acknowledged[0]["time"] + self.grace
                self._judge(("acknowledged", *place), {each.manager}, arrival["time"], until, 2)
            slow = arrival["time"] - source.start > self.late
            deadline = entry["deadline"]
            if slow or (deadline and arrival["time"] > deadline + self.grace):
                until = left["time"] if left else entry["time"]
                self._judge(("late", *place), {source.manager}, entry["time"], until)

    def _line(self, chosen: list[tuple[int, int, Gathered, str, str]]) -> None:
        latest = 0
        for _, turn, source, manager, queue in sorted(chosen, key=lambda each: each[0]):
            entry, left = source.entry, source.left
            assert entry is not None
            if turn < latest:
                assert source.identifier is not None
                until = left["time"] if left else entry["time"]
                if source.has("received") and not source.fetched:
                    until = source.of("received")[0]["time"]
                self._judge(("reordered", source.identifier, manager, queue), {manager}, entry["time"], until)
            latest = max(latest, turn)

    # -- in one queue

    def _queues(self) -> None:
        arrivals: dict[tuple[str, str, str], int] = defaultdict(int)
        lines: dict[object, list[tuple[int, int, Gathered, str, str]]] = defaultdict(list)
        for each in self.events:
            entry = each.entry
            local = entry is not None and each.has("arrived") and entry["queue_kind"] == "local"
            if each.identifier and entry and local and not each.unpromised:
                arrivals[each.identifier, each.manager, entry["queue"]] += 1
            self._alone(each)
            received = each.of("received")
            if (
                entry
                and received
                and entry["queue_kind"] != "outgoing"
                and self._keeps_order(each, entry)
                and not each.has(*OUT_OF_LINE, "held")
                and not each.fetched
            ):
                came = each.of("received", "handed-out")[0]["event_id"]
                line = (each.manager, entry["queue"], entry["lookup_id"] >> 56)
                lines[line].append((came, entry["event_id"], each, each.manager, entry["queue"]))
        self.found |= {("duplicated", *place) for place, count in arrivals.items() if count > 1}
        for chosen in lines.values():
            self._line(chosen)

    def _keeps_order(self, each: Gathered, entry: Row) -> bool:
        """Return whether a queue keeps its order: a transactional one does by default; others if named."""
        if entry["queue"] == self.in_order:
            return True
        transactional = any(row["transaction"] or row["stream"] for row in each.rows)
        return transactional and entry["queue"] != self.any_order

    def _alone(self, each: Gathered) -> None:
        entry, received = each.entry, each.of("received")
        where = next((row["queue"] for row in each.of(*ENTRIES, "prepared")), None)
        if each.identifier is None or where is None:
            return
        place = (each.identifier, each.manager, where)
        revived = sum(1 for row in each.rows if row["event"] == "moved" and row["queue_kind"] in COPIES)
        ours = {each.manager}
        if len(received) - revived > 1:
            self._judge(("duplicated", *place), ours, received[0]["time"], received[-1]["time"])
        if entry and received:
            handed = max((row["time"] for row in each.of("handed-out")), default=received[0]["time"])
            deadline = entry["deadline"]
            if received[0]["time"] - each.start > self.late or (deadline and handed > deadline):
                self._judge(("late", *place), ours, entry["time"], received[0]["time"])
        doubts = each.of("held", "prepared")
        settled = max((row["event_id"] for row in each.of(*SETTLED)), default=0)
        end = self.covered[each.manager][-1][1]
        if (
            doubts
            and doubts[-1]["event_id"] > settled
            and doubts[-1]["time"] + self.doubt <= end
            and not each.unpromised
        ):
            passes = (entry and entry["queue_kind"] == "outgoing") or each.fetched
            self._judge(("in-doubt", *place), ours, doubts[-1]["time"], end, 6 if passes else 0)
