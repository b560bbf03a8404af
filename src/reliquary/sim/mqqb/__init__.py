"""The simulated world of MQQB: byte streams between sites that break at any byte.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

network     connections that are cut, stuck and late; bytes come in any pieces
monitor     what leaves a site is on disk there: numbers, and what acknowledgements report
promises    nothing is doubled while its identifier is known, and nothing of a stream ever
plugin      MQQB in a world of several sites
"""
