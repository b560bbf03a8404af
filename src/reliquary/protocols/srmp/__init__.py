"""SRMP, [MC-MQSRM]: messages over HTTP as SOAP with attachments, streams exactly once and in order.

codec              bytes <-> Message
sender             sessions of outgoing queues, POSTs and what their answers mean, streams and their numbers
receiver           a POST came: route, judge, store, answer; the receipts that its sender gets later
state, facts       what SRMP knows; `apply` changes what is durable, `recovery` reads it from the `tables`
history            identifiers of messages that came: a second one is a duplicate
events, effects    what the network reports, and what it is asked to do
signing, trust     XML signatures of both roles
settings           what an administrator chose; `redirection` is a part of it
machine            the events, signals and timers that SRMP takes, each with its rule
"""
