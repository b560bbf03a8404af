"""A world of several sites, into which protocols are plugged.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `run`.

    site A                             network                             site B
    applications                                                           applications
      |  ^                                                                   |  ^
    manager + machines --effect--> one for each protocol --event--> manager + machines
      |                     loses, delays, repeats, cuts                     |
    disk                                                                   disk

Each site has its own clock, disk, history and witness, and crashes by itself.

run             the sites of a seed, from the first start to the last comparison
plugin          what a protocol brings: machines, settings, network, applications, promises
monitor         what a protocol checks at one site while it runs
witness         the general checks at one site, and the calls of the monitors
reasons         why a message may leave an outgoing queue
register        what all sites together know of a message
chains          ways of messages over several protocols
promises        what must hold in the end: loss, order, nothing left
network         the hosts of the sites, and what all networks do
requests        a network that carries requests and their answers over connections
network_faults  what goes wrong between sites
partitions      sites that cannot reach each other for a while
applications    senders that write to other sites, and readers
"""
