"""HTTPR 1.1: batches of messages over HTTP, exactly once, between two agents that may crash at any moment.

codec         bytes <-> headers, batches              addresses, mapping    agents, queues, Message <-> fields
transactions  what an outcome means for each batch    tables, facts, apply  source and sink state (3.12)
server        requests of others: sessions, batches   client                our own: PUSH to REPORT
settings      what an administrator chose             machine               all of it by two tables

routing says for both agents which queue a name means.

A channel is < requester ; channel ; responder >.  Its source and its sink state is one row, written in
the same batch as the messages that it speaks of.
"""
