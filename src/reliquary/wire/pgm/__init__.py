"""Encodes the packets of Pragmatic General Multicast, RFC 3208 sections 8 and 9.

It may import `base` and other modules of `wire`.  Begin with `packets`.

Numbers are big-endian.  A source and one of its sessions are named by the TSI, which is the global source
id and the source's port; in what goes upstream (NAK, NNAK) the two ports are the other way round.
What breaks the format is refused with a `PacketFault`, and with nothing else.
"""
