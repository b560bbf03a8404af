"""The control plane: queues are made, shown, changed and deleted here, and people can look.

It runs in the engine's loop.  What it shows comes from views, what it changes goes through events.
The room imports `client`, `net`, `views` and the rooms below.  Begin with `app`.
"""
