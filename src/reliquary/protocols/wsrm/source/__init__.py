"""Implements the RM source: it sends sequences, resends messages and obeys flow control.

It may import what `protocols.wsrm` may import, and its shared modules, and not `destination`.  Begin with
`phases`.

phases            the phases of a sequence (table)      ways            where its messages go
sessions          outgoing queues connect and rest      creation        a sequence is asked for
sending           messages are numbered and sent        offered         replies to clients, on responses
acknowledgements  what arrived, and what is missing     retransmission  what has no acknowledgement goes again
flow, polling     [MS-WSRVCRM] 3.2: room at the peer    waits           the time until that
closing           the steps of the end of a sequence    ending          what brings it about
answers           what a response means                 posting         requests, tickets, epochs
"""
