"""Runs machines and keeps the Turn contract: facts on disk, then effects.

`core` runs turns and closes batches, without a clock or a thread; `loop` runs it in a real process, with
`syncs` for the batches that wait for the store and `alarm` for the timers.  The simulator is another shell.
The room imports `store`, `protocols`, `queueing` and `base`.  Begin with `core`.
"""
