"""The queue manager of [MS-MQDMPR] as a machine, without I/O, a clock or random numbers of its own.

Imports and calls go down only; `lint-imports` and tests/e2e/test_walk.py check it.

    root       manager     takes each event and signal to its rule, and ends the turn
               features    the list of features, and their tables joined
               requests    checks a request, calls its rule, sends the answer
               startup, initialization, lifecycle    start and stop; queues are created, changed, deleted
               recovery    builds the state from the rows
    features   directory feed history packets security staging travel
               each folder registers rules, timers, permits and appliers in its feature.py;
               none imports another, but for the two imports that the contract lists with their reasons
    rules      the processing rules: enqueue, read, transactions, expiry, destinations ...
    changes    the changes that facts make in memory and in the rows, and their history events
    model      values, names, tables, order, state: data without rules

Begin with `model.state`, then `rules.enqueue` and `changes.positions` (the way of one message), then
`manager`.  `./dev where ID` prints the function that implements a requirement.
"""
