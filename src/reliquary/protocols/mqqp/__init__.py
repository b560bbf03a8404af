"""Implements [MS-MQQP], which reads queues of other managers over DCE/RPC, and the part of [MS-MQMP] for it.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `machine`.

    codec      stubs <--> values, both transfer syntaxes
    server     queues of this manager for readers on others
    client     queues of other managers for local applications: `queueing/travel/remote.py`

A message that is read stays locked at its manager until the reader has acknowledged it.
"""
