"""The server role of [MS-MQQP]: clients elsewhere open, read, purge and close our queues.

It may import what `protocols.mqqp` may import, and its shared modules, and not `client`.  Begin with
`phases`.

Every method asks the queue manager by `RequestMade` (`asking`) and responds when the answer is heard.
Nothing of this role outlives the process: locks are gone after a restart, and the messages are available.
"""
