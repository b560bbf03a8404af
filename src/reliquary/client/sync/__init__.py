"""The client without `await`: each class calls its counterpart in `client` in the event loop of a thread.

It may import `net`, `engine` and the rooms below.  Begin with `portal`.
"""
