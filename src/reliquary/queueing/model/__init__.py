"""The data that the rules work on: values, names, tables, the order of a queue, and the state.

It imports `base` and `wire`, and no other layer of queueing: nothing here decides anything about a request.
Begin with `message`, `queue` and `state`.  `state` lists the modules.
"""
