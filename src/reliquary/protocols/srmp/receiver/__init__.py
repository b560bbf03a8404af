"""SRMP's receiver, [MC-MQSRM] 3.1.5: messages that were posted to us are taken once, and receipts are sent.

It may import what `protocols.srmp` may import, and its shared modules, and not `sender`.  Begin with
`messages`.

routing      to a queue here, to another host, or nowhere
messages     a message is taken or not: signature, stream, duplicate, the manager's verdict
resuming     a stream goes on after a restore, without numbers that will never come
receipts     delivery, commitment, stream and final stream receipts
"""
