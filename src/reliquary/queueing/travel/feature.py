"""The rules of events, signals and timers that messages to and from other managers need."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.model import events
from reliquary.queueing.model.feature import Feature
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.rules import spool
from reliquary.queueing.travel import arrivals, dispatch, remote, reservations, rooms, runs, steering
from reliquary.queueing.travel.apply import APPLIERS

TRAVEL: Final = Feature(
    name="travel",
    rules={
        events.TakeOffline: steering.take_offline,
        events.BringOnline: steering.bring_online,
        events.PauseQueue: steering.pause,
        events.ResumeQueue: steering.resume,
        events.DispatchMessages: dispatch.go_on,
    },
    signals={
        transfer.ConnectionChanged: dispatch.on_connection_changed,
        transfer.TransferProgressed: dispatch.on_progress,
        transfer.TransferAccepted: dispatch.on_transfer_accepted,
        transfer.DestinationReached: dispatch.on_destination_reached,
        transfer.TransferEnded: dispatch.on_transfer_ended,
        transfer.ResendWanted: dispatch.on_resend_wanted,
        transfer.MessageArrived: arrivals.on_arrival,
        transfer.RunArrived: runs.on_run,
        transfer.AddressesKnown: steering.on_addresses_known,
        transfer.QueuesWatched: reservations.on_watched,
        transfer.RoomWatched: rooms.on_watched,
        transfer.ReservationWanted: reservations.on_reservation_wanted,
        transfer.ReservationsEnded: reservations.on_reservations_ended,
        transfer.BatchArrived: arrivals.on_batch,
        transfer.DuplicatesDropped: arrivals.on_duplicates,
        transfer.StreamResumed: arrivals.on_resumed,
        transfer.BodiesUnwanted: spool.on_unwanted,
        remote.RemoteReadsEnded: remote.on_reads_ended,
    },
    timers={"retry": lambda state, number, _: dispatch.on_rest_over(state, number)},
    appliers=APPLIERS,
    at_any_time=frozenset({events.DispatchMessages}),
)
