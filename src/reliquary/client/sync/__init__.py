"""The face without `await`: each class has a twin one floor up, and each call runs in a thread's loop.

It may import `net`, `engine` and the rooms below.  Begin with `portal`.
"""
