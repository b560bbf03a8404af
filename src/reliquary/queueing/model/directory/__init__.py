"""Objects of the directory, what the manager has of them in memory, and whether it reaches the directory.

It imports other modules of `model`.  Begin with `objects`; the feature `directory` has the rules.
"""
