"""Reads and writes NDR, the transfer syntaxes of DCE/RPC: NDR 2.0 (C706 chapter 14) and NDR64 ([MS-RPCE]
2.2.5).

It may import `base` and other modules of `wire`.  Begin with `encoding`.

encoding   which of the two, and in which order the bytes of a number come
reader     bytes --> numbers, pointers, arrays, with the checks of [MS-RPCE] 3.1.1.5.3
writer     numbers, pointers, arrays --> bytes, always little-endian
"""
