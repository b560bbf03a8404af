"""TCP connections below every protocol: opened, numbered by epochs, and accepted.

It may import `engine` and the rooms below.  Begin with `acceptor`.

dialing, epochs                    connections that we open
acceptor, accepted, connections    connections that clients open: limits, pause, idle sweep, drain
opened_objects                     what a client opened ends with its connection
descriptors                        connections leave some for files
keepalive                          a peer that crashed is noticed, however long the connection is silent
"""
