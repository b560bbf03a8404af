"""Implements the directory, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25: the data that managers have of each other.

[MS-MQDSSM] puts an LDAP server here.  Here it is the manager's own store, which is always available
unless an administrator detaches it.  It imports `rules`, `changes` and `model`, and no other feature.
Begin with `operations`, which lists the modules.
"""
