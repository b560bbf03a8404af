"""Opens and accepts TCP connections for all protocols, and numbers them by epochs.

It may import `engine` and the rooms below.  Begin with `acceptor`.

dialing, epochs                    outgoing connections
acceptor, accepted, connections    connections that clients open: limits, pause, idle sweep, drain
opened_objects                     the objects of a client end with its connection
descriptors                        connections leave some for files
keepalive                          a crashed peer is detected on a silent connection
"""
