"""SRMP's receiver, [MC-MQSRM] 3.1.5: messages that arrive, and the receipts that their senders get."""
