"""Audits deliveries: all histories prove or refute that nothing was lost, doubled or reordered.

It may import `client`, `wire` and `base`.  Begin with `run`.
"""
