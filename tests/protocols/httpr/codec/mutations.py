"""Bodies with one to three changes, most of them along the lines of the grammar."""

from __future__ import annotations

import random
import re

_TOKENS = re.compile(rb"\r\n|[ \t]+|[:=+,;\"]|[^\r\n \t:=+,;\"]+|[\r\n]")
PIECES = [
    *(
        b"",
        b" ",
        b"\t",
        b"\r\n",
        b"\r\n ",
        b"\r\n\t",
        b"\r\n\r\n",
        b"\r",
        b"\n",
        b":",
        b"=",
        b"+",
        b",",
        b";",
    ),
    *(b'"', b'"a,b"', b'"\\"', b"\\", b"(", b"/", b"\x00", b"\x7f", b"\x80", b"\xdf", b"\xff", b"x", b"X Y"),
    *(b"0", b"1", b"05", b"-1", b"5;x=y", b"FFFFFFFFFFFFFFFF", b"10000000000000000", b"9" * 25, b"1 2"),
    *(b"request", b"PUSH", b"pull", b"REPORT", b"HTTPR/1.0", b"httpr/1.0", b"HTTPR/2.0", b"sessionid"),
    *(b"sessionid:1\r\n", b"transactionid:1\r\n", b"session:end\r\n", b"session:begin\r\n", b"channel:c\r\n"),
    *(b"requester:r\r\n", b"outcome:COMMIT\r\n", b"completed:1\r\n", b"app-x: y\r\n", b"error:510\r\n"),
    *(b"capabilities:flows=PUSH+PULL;x\r\n", b"batch_size=5", b"flows=pull", b"session_support=SESSION"),
    *(b"message-size:5\r\n", b"message-size:0\r\n\r\n\r\n", b"Message-Encoding: chunked\r\n", b"chunked"),
    *(
        b"message-encoding:chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n\r\n",
        b"0\r\na:b\r\n\r\n",
        b"0\r\n\r\n",
        b"3\r\nabc\r\n",
    ),
    *(b"payload-disposition:last\r\n", b"payload-disposition : \r\n abort\r\n", b"last", b"abort"),
]


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return damaged data; equal seeds give equal damage."""
    tokens = _TOKENS.findall(data) or [b""]
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(tokens))
        match chance.randrange(8):
            case 0:
                tokens[at] = chance.choice(PIECES)
            case 1 | 2:
                tokens.insert(at, chance.choice(PIECES))
            case 3:
                del tokens[at : at + chance.randrange(1, 4)]
                tokens = tokens or [b""]
            case 4:
                tokens[at:at] = tokens[at : at + chance.randrange(1, 6)]
            case 5:
                other = chance.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 6:
                tokens[at] = tokens[at].swapcase()
            case _:
                token = bytearray(tokens[at])
                if token:
                    token[chance.randrange(len(token))] = chance.randrange(256)
                tokens[at] = bytes(token)
    return b"".join(tokens)
