"""Applies facts: this is the only code that changes durable state.

    apply          makes one fact true, and states it in the turn
    queues         the manager and its queues
    positions      messages and their places;  numbering, retention: their places in feeds
    transactions   prepared transactions and outcomes
    counters       counters and numbers, written once a batch
    recording        the history events of facts;  noting: events without a fact;  history: their rows

It imports `model` only.  The appliers of a feature's facts are in the folder of the feature.  Begin with
`apply`, then `positions`.  tests/queueing/test_recovery.py shows that recovery rebuilds this state from rows.
"""
