"""SRMP, [MC-MQSRM]: messages over HTTP as SOAP with attachments, streams exactly once and in order.

codec       bytes <-> Message                    redirection, settings   what an administrator chose
receiver    a POST came: judge, store, answer    receipts                what its sender is told later
sender      a message goes: number, post, wait   machine                 all of it by two tables
routing     here, on to another host, nowhere    streams_in, history     what was taken, and is not again
streams_out numbers and receipts of a stream     sessions, reactions     connections, and what answers mean
"""
