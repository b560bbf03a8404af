"""Implements the client role, [MS-MQQP] 3.2: it reads queues of other managers for local applications.

It may import what `protocols.mqqp` may import, and its shared modules, and not `server`.  Begin with
`phases`.

requests --> links (opening, closing) --> tasks (reading) --> settling, receipts --> the answer
"""
