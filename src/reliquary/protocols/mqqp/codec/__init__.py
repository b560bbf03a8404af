"""Encodes and decodes the methods of qm2qm and qmcomm.

It may import `queueing`, `wire` and `base`.  Begin with `methods`.

qm2qm, qmcomm              a value for each request and each response
stubs                      values <--> bytes, in NDR 2.0 and NDR64: the interface of this package
qm2qm_stubs, qmcomm_stubs  how each method is read and written
descriptors                REMOTEREADDESC: the options of a read, and its message
formats                    QUEUE_FORMAT: a queue's name as a structure
transfer_buffer            CACTransferBufferV1, which is skipped
"""
