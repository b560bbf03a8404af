"""Makes records of queues, transactions, feeds and the directory for display.

The client, the command line, the control plane and the metrics show what these functions return.

Begin with `writers`, the shortest noun: its record, the function that makes it, the declaration.

A module reads the state of the manager, for one user, and changes nothing.  It imports `queueing` and the
rooms below, so this room is directly above `queueing`, beside `streams`; no machine imports it.  The nouns
of a protocol are in the room of the protocol, and `client/nouns.py` lists all nouns of a manager.

Clients of a server import the nouns for their records.  So the module of a noun imports the state and the
rules of the manager only inside its functions.  `administration` lists the modules.
"""
