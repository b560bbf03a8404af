"""The delivery audit: the histories of all managers prove or refute that nothing was lost, doubled,
reordered.
"""
