"""Provides the client without `await`: each class calls its counterpart in `client` in an event loop.

It may import `net`, `engine` and the rooms below.  Begin with `portal`.
"""
