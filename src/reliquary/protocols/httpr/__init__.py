"""HTTPR 1.1: batches of messages over HTTP, exactly once, between two agents that may crash at any moment.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `machine`.

client/         the agent that sends requests          server/           the agent that answers them

What both share:
codec/          bytes <-> headers and batches          machine           events and signals, each to its rule
events          what the network reports               effects           what the network is asked to do
facts, apply    changes of durable state (3.12)        tables, recovery  rows on disk, and back
settings        what an administrator chose            state             all that the rules read and write
addresses       names of agents, URLs, Destinations    routing           which queue a name means
fields          the header of a message as fields      attributes        fields that only we know
message_encode  Message -> header fields               message_decode    header fields -> Message
soap            SOAP messages                          transactions      what an outcome means for each batch
batches         what follows for the messages          outgoing          who brings an outgoing queue
administration  what an administrator asks for         schemes           format names of agents

A channel is < requester ; channel ; responder >.  Its source state and its sink state are one row, which is
written together with the messages that it speaks of.  `client` and `server` do not import each other.
"""

from reliquary.protocols.httpr.schemes import HTTPR, HTTPRS

__all__ = ["HTTPR", "HTTPRS"]
