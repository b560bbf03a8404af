"""Implements reliable multicast, RFC 3208 with the choices of [MC-MQSRM] 2.1.3, without any I/O.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `source`.

There are no acknowledgements. A receiver asks for missing packets as long as the source keeps them,
and reports packets that it cannot get.  `source.Source` sends one session to one group; `receiver.Receiver`
receives all the sessions of one group.  Both take events with their time, and return actions and the time
of the next call.
"""
