"""Defines the spelling of WS-ReliableMessaging 1.1 and 1.2, which share a namespace, and MakeConnection."""

from __future__ import annotations

from typing import Final

NAMESPACE: Final = "http://docs.oasis-open.org/ws-rx/wsrm/200702"
POLICY: Final = "http://docs.oasis-open.org/ws-rx/wsrmp/200702"

CREATE_SEQUENCE: Final = f"{NAMESPACE}/CreateSequence"
CREATE_SEQUENCE_RESPONSE: Final = f"{NAMESPACE}/CreateSequenceResponse"
ACK_REQUESTED: Final = f"{NAMESPACE}/AckRequested"
SEQUENCE_ACKNOWLEDGEMENT: Final = f"{NAMESPACE}/SequenceAcknowledgement"
CLOSE_SEQUENCE: Final = f"{NAMESPACE}/CloseSequence"
CLOSE_SEQUENCE_RESPONSE: Final = f"{NAMESPACE}/CloseSequenceResponse"
TERMINATE_SEQUENCE: Final = f"{NAMESPACE}/TerminateSequence"
TERMINATE_SEQUENCE_RESPONSE: Final = f"{NAMESPACE}/TerminateSequenceResponse"
FAULT: Final = f"{NAMESPACE}/fault"

MAKE_CONNECTION_NAMESPACE: Final = "http://docs.oasis-open.org/ws-rx/wsmc/200702"
MAKE_CONNECTION: Final = f"{MAKE_CONNECTION_NAMESPACE}/MakeConnection"
MAKE_CONNECTION_FAULT: Final = f"{MAKE_CONNECTION_NAMESPACE}/fault"
