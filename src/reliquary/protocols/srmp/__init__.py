"""SRMP, [MC-MQSRM]: messages over HTTP as SOAP with attachments, streams exactly once and in order.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `machine`.

codec              bytes <-> Message
arrivals           what arrives: decoded, routed, and handed to one of the roles
sender             sessions of outgoing queues, POSTs and what their answers mean, streams and their receipts
receiver           messages: judged, stored, answered; the receipts that their senders get
state, tables      what SRMP knows; the durable part of it is streams (`reliquary.streams`)
events, effects    what the network reports, and what it is asked to do
signing, trust     XML signatures of both roles
settings           what an administrator chose; `redirection` is a part of it
machine            the events, signals and timers that SRMP takes, each with its rule

Neither role imports the other.
"""
