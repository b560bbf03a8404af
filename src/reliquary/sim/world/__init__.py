"""Simulates a world of several sites with plugged-in protocols.

It may import `engine`, `store` and the rooms below, and no socket.
Begin with `run`, which lists the modules.

    site A                             network                             site B
    applications                                                           applications
      |  ^                                                                   |  ^
    manager + machines --effect--> one for each protocol --event--> manager + machines
      |                     loses, delays, repeats, cuts                     |
    disk                                                                   disk

Each site has its own clock, disk, history and witness, and crashes by itself.
"""
