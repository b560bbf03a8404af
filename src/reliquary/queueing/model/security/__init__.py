"""Users, rights and what anonymous clients may do, as values.

It imports `base` and `wire`.  Begin with `principals`, then `rights`; `rules.permission` decides with them.
"""
