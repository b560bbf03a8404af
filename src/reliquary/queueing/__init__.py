"""The queue manager of [MS-MQDMPR] as a machine, without I/O, a clock or random numbers of its own.

Imports and calls go down only; `lint-imports` and tests/e2e/test_walk.py check it.

Begin with `model.state`, then `rules.enqueue` and `changes.positions` (the way of one message), then
`manager`.  `./dev where ID` prints the function that implements a requirement.  `manager` lists the modules.
"""
