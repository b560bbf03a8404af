"""Encodes and decodes the packets of [MS-MQQB], without state.

It may import `queueing`, `wire` and `base`.  Begin with `packets`.

packets    any packet of a session
acks       order and final acknowledgements, which are user messages to `order_queue$`

The layouts themselves are in `wire/packet`: UserMessage, the internal packets, the ping, the framer.
"""
