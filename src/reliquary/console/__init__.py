"""Implements the control plane: it shows and administers queues, for programs and on pages for people.

It runs in the engine's loop.  It reads views, and makes changes by events.
The room imports `client`, `net`, `views` and the rooms below.  Begin with `app`.
"""
