"""Runs the whole system from a seed: clock, network and disk are simulated, and checkers watch all of it.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `run`.

A seed decides everything: which application sends what, which request is lost, when the power goes, how
long a sync takes.  A seed always gives one run, so a failure is repeated by `./dev sim --seed N`.

In every tenth seed a store is replaced by a backup of it (`restores`): the host forgets all changes since
the backup, and the other hosts do not.

`run` has one server; `world` has several, which use the protocols that are plugged in (`srmp`, `httpr`).
"""
