"""Encodes the UserMessage packet, [MS-MQMQ] 2.2.20: one message with all its headers.

It may import `base` and other modules of `wire`.  Begin with `user_message`.

    | Base | User | Transaction? | Security? | Properties | Debug? |
    | Envelope? | Compound? | Soap? | MultiQueue? |                      PacketSize counts up to here
    | Session? |

A file a header; its encoder and its decoder are neighbours.  Numbers are little-endian, headers begin at
multiples of four, padding is written as zero and read without a look.  What breaks the format is refused
with a `fields.PacketFault`, and with nothing else.
"""
