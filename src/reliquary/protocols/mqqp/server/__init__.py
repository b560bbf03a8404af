"""Implements the server role of [MS-MQQP]: clients of other computers use local queues.

It may import what `protocols.mqqp` may import, and its shared modules, and not `client`.  Begin with
`phases`.

Every method asks the queue manager by `RequestMade` (`asking`) and responds when the answer arrives.
None of its state survives the process: after a restart no message is locked.
"""
