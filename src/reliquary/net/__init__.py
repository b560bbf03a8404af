"""Performs network I/O, as the only room: sockets, the real clock, random numbers of the system.

It imports `views`, `engine` and the rooms below.  Begin with `http.listener`, then `api`.
"""
