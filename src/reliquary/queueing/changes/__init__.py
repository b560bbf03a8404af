"""What facts change: the only code that changes durable state.

    apply          makes one fact true, and states it in the turn
    queues         the manager and its queues
    positions      messages and their places;  numbering, retention: their places in feeds
    transactions   prepared transactions and outcomes
    counters       counters and numbers, written once a batch
    telling        what a fact tells the history;  noting: what is no fact;  history: its rows

It imports `model` only.  Appliers of facts that a feature has lie in the folder of the feature.  Begin with
`apply`, then `positions`.  tests/queueing/test_recovery.py shows that the rows rebuild what these leave.
"""
