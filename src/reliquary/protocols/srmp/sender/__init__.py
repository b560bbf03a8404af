"""SRMP's sender, [MC-MQSRM] 3.1.7: sessions, POSTs and their answers, streams and their receipts."""
