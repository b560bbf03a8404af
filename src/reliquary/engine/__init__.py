"""The engine keeps the Turn contract: facts on disk, then effects.

`core` runs turns and closes batches, without a clock or a thread; `loop` is the shell around it for a
real process, the simulator is another one. The room imports `store`, `protocols`, `queueing` and `base`.
"""
