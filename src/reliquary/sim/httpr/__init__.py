"""Several servers that move batches to and from each other by HTTPR, from a seed.

    site A                              web                               site B
    manager + HTTPR --SendRequest--> bytes --RequestBegun, RequestArrived--> manager + HTTPR
      |        ^-----ResponseArrived----- bytes <------------Answer-----------'  |
    disk                                                                       disk

Messages are pushed, fetched from the manager's own service or a queue's, exchanged, and passed on by a third
site.  The web loses, cuts, tears and stalls; what a client has given up may still arrive, on its old
connection or on one that its server takes for new.  In the end all must have arrived, once and in order, and
nothing is in doubt.

What the protocol cannot defend, the web does not do: without a session, no REPORT comes late on a new
connection (nothing in it says that it is old), and no batch that its server was told to forget (F-03).
"""
