"""A world of several sites, into which protocols are plugged.

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
