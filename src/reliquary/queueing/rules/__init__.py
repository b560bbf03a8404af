"""Implements the processing rules of [MS-MQDMPR] 3.1.7, each in the file of its noun.

    a message comes     sending, destinations, enqueue, spool, acknowledge
    it is read          handles, read, checks, permission
    it goes             leave, expiry, poison, losses;  news, trace: what its sender is sent about it
    several at once     transactions, coordinator, outcomes
    queues              creation, queue_life, outgoing, paths
    the manager         readiness, era

A rule reads the state, decides, and applies facts (`changes.apply`).  It imports `changes` and `model`,
and no feature; what a feature has to provide comes through `State.hooks`. Begin with `enqueue` and
`read`.
"""
