"""The directory, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25: what managers know of each other.


[MS-MQDSSM] puts an LDAP server here.  Ours is the manager's own store: always near, unless an administrator
detaches it.  It imports `rules`, `changes` and `model`, and no other feature.
Begin with `operations`, which lists the modules.
"""
