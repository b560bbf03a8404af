"""Defines the interface between the manager and the protocols: carriers, links and signals.

It imports other modules of `model`; every protocol imports it.  Begin with `transfer`, then `carriers`.
"""
