"""Implements SRMP's sender, [MC-MQSRM] 3.1.7: it posts messages of outgoing queues until a receipt comes.

It may import what `protocols.srmp` may import, and its shared modules, and not `receiver`.  Begin with
`posting`.

phases       the table of a session: closed, open, draining
sessions     sessions open and close                      addresses    where messages are posted
posting      messages are numbered and posted             answers      what the answer to a POST means
streams      the stream of a queue begins and ends        receipts     what the receipts for it say
resending    receipts are waited for; what has none is sent again
closing      streams of an older era, after a restore, go to their end
"""
