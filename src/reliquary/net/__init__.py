"""The only room with network I/O: sockets, the real clock, and random numbers of the operating system.

It imports `views`, `engine` and the rooms below.  Begin with `http.listener`, then `api`.
"""
