"""Sends messages to other managers and takes messages from them.

    dispatch       messages of outgoing queues go to their carriers;  refusals, failures: the outcomes
    reservations   a carrier takes a batch and reports its outcome later;  apply: facts about reservations
    arrivals       messages come, alone or in batches;  crossing: from one protocol to another
    steering       online and offline, pause and resume;  rooms, listeners: notices to carriers
    remote         reads of queues that another manager has
    loopback       a carrier without a network

It imports `rules`, `changes` and `model`, and of the features only `packets`, for the loopback.  Begin with
`dispatch` and `arrivals`; the signals are in `model.travel.transfer`.
"""
