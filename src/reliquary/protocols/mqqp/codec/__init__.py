"""The methods of qm2qm and qmcomm as values, and their stubs.

It may import `queueing`, `wire` and `base`.  Begin with `methods`.

qm2qm, qmcomm              a value for each request and each response
stubs                      values <--> bytes, in NDR 2.0 and NDR64: what others call
qm2qm_stubs, qmcomm_stubs  how each method is read and written
descriptors                REMOTEREADDESC: what a read wants, and its message
formats                    QUEUE_FORMAT: a queue's name as a structure
transfer_buffer            CACTransferBufferV1, which is skipped
"""
