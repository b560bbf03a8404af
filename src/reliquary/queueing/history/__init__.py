"""The rules for the exporter of the history: rows of exported events are deleted.

The history itself is written with the facts, by `changes.recording` and `changes.history`.  It imports
`changes` and `model`, and no other feature. Begin with `keeping`.
"""
