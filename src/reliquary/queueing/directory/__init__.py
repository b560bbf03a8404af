"""The directory, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25: what managers know of each other.

    feature      what the directory registers
    rules        events: each one becomes an operation;  permits: who may ask
    operations   create, delete, read, write, each with its DirectoryOperationResult
    registry     objects written, removed, found;  apply: what their facts change
    publishing   this manager and its queues as objects;  membership: queues that enter and leave
    published    what names ask the directory
    queries      filters, attribute lists, the order of results
    upkeep       what is looked at again from time to time
    exchange     all of it as text

[MS-MQDSSM] puts an LDAP server here.  Ours is the manager's own store: always near, unless an administrator
detaches it.  It imports `rules`, `changes` and `model`, and no other feature.  Begin with `operations`.
"""
