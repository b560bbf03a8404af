"""Simulates HTTPR between several sites: its plan, its network in bytes, its monitor, its applications.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

Messages are pushed, fetched from the manager's own service or a queue's, exchanged, and passed on by a third
site.  The network loses, cuts, truncates and stalls; what a client has given up may still arrive, on its old
connection or on one that its server takes for new.  In the end all must have arrived, once and in order, and
nothing is in doubt.

The network has no faults against which the protocol has no defence: without a session, no REPORT comes
late on a new connection (nothing in it says that it is old), and no batch that its server had to forget
(F-03).
"""
