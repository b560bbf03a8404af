"""Measures durable queues of other makers beside ours in one run; each peer has a small file.

    __main__    arguments, rounds, what is written
    peer        what a peer is: its package, its server process, its queue
    link        a connection of a load to a peer: frames in, frames out
    load        the load, in a process of its own
    syncs       whether every confirm waited for a sync, seen from outside
    table       the list of the peers
    rounds      the order in which peers are measured, and the sums of the rounds
    report      the table, and its places in the documentation
    chart       the drawing

Each of the other files is one peer: how its server is started with a sync for every confirm, and the few
frames of its protocol that a queue needs.
"""
