"""Defines the spelling of WS-ReliableMessaging 1.0 (February 2005)."""

from __future__ import annotations

from typing import Final

NAMESPACE: Final = "http://schemas.xmlsoap.org/ws/2005/02/rm"
POLICY: Final = "http://schemas.xmlsoap.org/ws/2005/02/rm/policy"

CREATE_SEQUENCE: Final = f"{NAMESPACE}/CreateSequence"
CREATE_SEQUENCE_RESPONSE: Final = f"{NAMESPACE}/CreateSequenceResponse"
ACK_REQUESTED: Final = f"{NAMESPACE}/AckRequested"
SEQUENCE_ACKNOWLEDGEMENT: Final = f"{NAMESPACE}/SequenceAcknowledgement"
LAST_MESSAGE: Final = f"{NAMESPACE}/LastMessage"
"""The action of a last message with an empty body."""
TERMINATE_SEQUENCE: Final = f"{NAMESPACE}/TerminateSequence"
