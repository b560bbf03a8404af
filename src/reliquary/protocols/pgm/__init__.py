"""Reliable multicast: RFC 3208 with the choices of [MC-MQSRM] 2.1.3, without any I/O.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `source`.

    source                                        receivers
      | SPM: I am here, my window is 7 to 9 ------> |   also when there is nothing to send
      | ODATA 10, 11, 12 -------------------------> |   12 came, 11 did not: a gap
      | <----------------------- NAK 11 (one list)  |   after a random pause, if no other asked
      | NCF 11 -----------------------------------> |   heard; the others need not ask
      | RDATA 11 ---------------------------------> |   delivered: 10, 11, 12, in order and once

There are no acknowledgements. A receiver asks for missing packets as long as the source keeps them,
and reports packets that it cannot get.  `source.Source` sends one session to one group; `receiver.Receiver`
listens to all the sessions of one group.  Both take events with their time, and return actions and the time
of the next call.
"""
