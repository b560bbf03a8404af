"""Defines the settings of SRMP, [MC-MQSRM] 3.1.1.1.5 and 3.1.1.1.7 to .10."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import MINUTE, SECOND, Duration, seconds
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.trust import NO_TRUST, Trust
from reliquary.streams.ladder import RESEND_LADDER, Ladder

LARGEST_MESSAGE: Final = 4 * 1024 * 1024
"""The usual limit for body and extension, which is that of MSMQ."""
ENVELOPE_BYTES: Final = 1024 * 1024
"""The bytes that a POST may have beside the body and the extension of its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SrmpSettings:
    """The settings of SRMP; the defaults are those of the specification."""

    receipts_host: str = ""
    """The `host[:port]` to which peers send stream receipts; empty for the name and port of this server."""
    store_and_forward: bool = False
    """TransparentStoreAndForward: take messages for other hosts, and forward them."""
    outbound_redirections: tuple[Redirection, ...] = ()
    """URLs of messages that leave, and the URLs to which they are sent in their place."""
    outbound_exceptions: tuple[str, ...] = ()
    """URLs to which no outbound redirection applies."""
    inbound_redirections: tuple[Redirection, ...] = ()
    """URLs of messages that arrive, and the queues or destinations that they are for."""
    receipt_urls: tuple[Redirection, ...] = ()
    """The redirections of receipts: StreamReceiptURLReplacementCollection."""
    default_receipt_url: str = ""
    """The URL for all other receipts, or empty: DefaultStreamReceiptURLReplacement."""
    retransmission: Duration = field(default=seconds(20))
    """RetransmissionTimeout: the time until an outgoing queue tries again after a failure."""
    resend_ladder: Ladder = RESEND_LADDER
    """The time until a message is sent again without a stream receipt, for each try; the last one repeats."""
    session_cleanup: Duration = field(default=seconds(300))
    """An idle connection is closed after this."""
    response_time: Duration = MINUTE
    """How long an answer to a POST may take, and how long a POST may make no progress."""
    coalescing: Duration = field(default=seconds(0.5))
    """How long a stream receipt waits for further messages, from the last one on."""
    longest_coalescing: Duration = field(default=seconds(10))
    """How long a stream receipt waits at most, from the first message on."""
    most_coalesced: int = 1000
    """A stream receipt goes at once when it confirms this many messages."""
    in_flight: int = 128
    """POSTs of one outgoing queue without an answer; 1 for peers that cannot take pipelined ones."""
    window: int = 4096
    """Stream messages of one outgoing queue that wait for a receipt."""
    history_size: int = 200_000
    """MessageIdHistoryTable: how many identifiers are remembered."""
    history_age: Duration = field(default=seconds(1800))
    """How long identifiers are remembered."""
    largest_message: int = LARGEST_MESSAGE
    """Bytes of a message's body and extension; a POST may have a mebibyte more, for the envelope."""
    missing_queue_time: Duration = field(default=seconds(600))
    """How long messages are retried to a queue that its manager does not have, before they are given up."""
    check_expiry_on_receive: bool = False
    """Refuse a message whose time to reach its queue is over when it arrives."""
    permanent_statuses: tuple[int, ...] = (400,)
    """HTTP statuses after which a message is given up; all others but 2xx are tried again."""
    dead_letter_stream: bool = False
    """Give up the rest of a stream whose first message was lost before any receipt; else it is renumbered."""
    windows_framing: bool = False
    """Write MIME parts without a line break before delimiters, as Windows does."""
    capital_stream: bool = False
    """Write `<Stream>` as the published examples do, not `<stream>`."""
    trust: Trust = NO_TRUST
    """Signatures: the key that makes them, and the certificates that are trusted."""

    @property
    def largest_post(self) -> int:
        """The most bytes of the body of a POST."""
        return self.largest_message + ENVELOPE_BYTES

    def __post_init__(self) -> None:
        for name in ("retransmission", "session_cleanup", "response_time", "coalescing",
                     "longest_coalescing", "history_age", "in_flight", "window", "history_size",
                     "most_coalesced", "largest_message"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
        if not self.resend_ladder or min(self.resend_ladder) < 1:
            raise UsageError("resend_ladder needs at least one span, each of a microsecond or more")
        if self.longest_coalescing < self.coalescing:
            raise UsageError(
                f"longest_coalescing is {self.longest_coalescing / SECOND:g} s, shorter than coalescing,"
                f" {self.coalescing / SECOND:g} s"
            )
