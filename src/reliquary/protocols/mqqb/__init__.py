"""Implements MQQB, [MS-MQQB], the binary protocol of every Windows queue manager on TCP port 1801.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.
Begin with `machine`, which lists the modules.

There are three layers of acknowledgement.  A session acknowledgement counts packets of one connection, and
frees express and recoverable messages.  An order acknowledgement confirms messages of a stream, exactly once
and in order.  A final acknowledgement says how a transactional message left its destination queue.
"""
