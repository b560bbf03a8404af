"""Simulates WS-ReliableMessaging between several sites: its settings, its monitors, its promises.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

Both roles run at every site, in all versions, with windows from one message on, with acknowledgements on
responses and at addresses, behind bounded queues that are read slowly.  The network loses, repeats and
reorders requests.  In the end all must have arrived, once and in its order; no window was ever exceeded, and
no acknowledgement was ever taken back.

A destination that forgets an ended sequence cannot know its messages again, so no destination forgets
here.
"""
