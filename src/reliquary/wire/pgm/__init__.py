"""Packets of Pragmatic General Multicast, RFC 3208 sections 8 and 9.

It may import `base` and other modules of `wire`.  Begin with `packets`.

    0             2                  4      5         6          8             14       16
    | source port | destination port | type | options | checksum | global source id | TSDU length |
    | body, by type | option extensions? | TSDU, of data packets alone |

    SPM              | number | trail | lead | path |
    ODATA, RDATA     | number | trail |
    NAK, NNAK, NCF   | number | source | group |

Numbers are big-endian.  A source and one of its sessions are named by the TSI, which is the global source
id and the source's port; in what goes upstream (NAK, NNAK) the two ports are the other way round.
What breaks the format is refused with a `PacketFault`, and with nothing else.
"""
