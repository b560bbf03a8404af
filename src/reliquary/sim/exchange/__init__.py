"""Several servers that write to each other by SRMP, from a seed.

    site A                        web                        site B
    applications                                             applications
      |  ^                                                     |  ^
    manager + SRMP --Post--> connection --PostArrived--> manager + SRMP
      |        ^------PostEnded----'<------PostAnswer------'   |
    disk                                                     disk

Each site has its own clock, disk, history and observer, and dies by itself; the web loses, cuts,
repeats and delays what goes between them.  In the end all must have arrived: once, in its order,
and with receipts that are true.
"""
