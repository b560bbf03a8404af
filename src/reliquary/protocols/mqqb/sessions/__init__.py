"""Implements sessions, [MS-MQQB] 3.1.1.3.1: each is a TCP connection that both sides use for all queues.

It may import what `protocols.mqqb` may import, and its shared modules.  Begin with `phases`.

phases          the table of the handshake: which packet may come when
handshake       EstablishConnection and ConnectionParameters, both roles
opening         sessions are opened and accepted; queues and acknowledgements find theirs
closing         sessions end: idle, silent, lost, malformed
acknowledging   SessionHeaders are made from counters, and their timer
links           reports to the manager about the sessions of its outgoing queues
"""
