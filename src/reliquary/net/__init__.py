"""The real world: sockets, the real clock, chance from the operating system.

It imports `views`, `engine` and the rooms below.  Begin with `http.listener`, then `api`.
"""
