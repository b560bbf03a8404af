"""Implements SRMP's receiver, [MC-MQSRM] 3.1.5: it takes posted messages once, and sends receipts.

It may import what `protocols.srmp` may import, and its shared modules, and not `sender`.  Begin with
`messages`.

routing      to a local queue, to another host, or nowhere
messages     a message is taken or not: signature, stream, duplicate, the manager's verdict
resuming     a stream continues after a restore, without numbers that will never come
receipts     delivery, commitment, stream and final stream receipts
"""
