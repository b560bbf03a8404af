"""The directory, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25: what managers know of each other, kept here.

    objects      what can be in it, with every attribute and its default
    holdings     what the manager has of it in memory
    registry     the objects themselves: written, removed, found
    published    a manager and its queues as the directory shows them
    queries      filters, attribute lists, the order of results
    connection   whether it can be reached, and what follows when it cannot
    operations   the events: create, delete, read, write, each with its DirectoryOperationResult
    upkeep       what is looked at again from time to time
    exchange     all of it as text

[MS-MQDSSM] puts an LDAP server here.  Ours is the manager's own store: always near, unless an
administrator detaches it.
"""
