"""The client role, [MS-MQQP] 3.2: queues of other managers, read for applications of ours.

It may import what `protocols.mqqp` may import, and its shared modules, and not `server`.  Begin with
`phases`.

requests --> links (opening, closing) --> tasks (reading) --> settling, receipts --> the answer
"""
