"""Messages that go to other managers and come from there.

    dispatch    messages of outgoing queues go to their carriers;  refusals, failures: what comes back
    holds       a carrier takes a batch and reports its outcome later;  apply: what these facts change
    arrivals    messages come, alone or in batches;  crossing: from one protocol to another
    steering    online and offline, pause and resume;  rooms, listeners: what carriers want to know
    remote      reads of queues that another manager has
    loopback    a carrier without a network

It imports `rules`, `changes` and `model`, and of the features only `packets`, for the loopback.  Begin with
`dispatch` and `arrivals`; the signals are in `model.travel.transfer`.
"""
