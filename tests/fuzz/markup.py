"""Damages XML and MIME texts: one to three changes, most of them at tags."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_TOKENS = re.compile(rb"<[^<>]*>|[^<>]+")


def damaged(data: bytes, pieces: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a text with one to three changes; `pieces` are put in place of tags or beside them."""
    tokens = _TOKENS.findall(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(tokens))
        match chance.randrange(6):
            case 0:
                tokens[at] = chance.choice(pieces)
            case 1:
                tokens.insert(at, chance.choice(pieces))
            case 2:
                del tokens[at : at + chance.randrange(1, 4)]
                tokens = tokens or [b""]
            case 3:
                tokens[at:at] = tokens[at : at + chance.randrange(1, 6)]
            case 4:
                other = chance.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                token = bytearray(tokens[at])
                if token:
                    token[chance.randrange(len(token))] = chance.randrange(256)
                tokens[at] = bytes(token)
    return b"".join(tokens)
