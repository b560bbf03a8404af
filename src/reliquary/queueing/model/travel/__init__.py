"""What the manager and the protocols say to each other: carriers, links, and the signals between them.

It imports other modules of `model`; every protocol imports it.  Begin with `transfer`, then `carriers`.
"""
