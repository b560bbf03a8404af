"""Simulates MQQB between several sites: byte streams that break at any byte.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

network     connections that are cut, stuck and late; bytes come in any pieces
monitor     everything that is sent is on disk at the sender: numbers, and the content of acknowledgements
promises    no message is doubled while its identifier is known, and none of a stream ever
plugin      MQQB in a world of several sites
"""
