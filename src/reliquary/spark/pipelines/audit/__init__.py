"""The delivery audit: the histories of all managers prove or refute that nothing was lost, doubled,
reordered.

It may import `client`, `wire` and `base`.  Begin with `run`.
"""
