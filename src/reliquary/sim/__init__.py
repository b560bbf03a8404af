"""The whole system from a seed: clock, network and disk are simulated, and checkers watch it all.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `run`.

A seed decides everything: which application sends what, which request is lost, when the power goes, how
long a sync takes.  A seed always gives one run, so a failure is repeated by `./dev sim --seed N`.

In every tenth seed a store is replaced by a backup of it (`restores`): what was done since then is forgotten
there, and nowhere else.

`run` has one server; `world` has several, which speak the protocols that are plugged in (`srmp`, `httpr`).
"""
