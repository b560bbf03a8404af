"""Names of queues as values: [MS-MQMQ] path names and format names, read and written.

It imports `base` and `model.queue`. Begin with `pathnames`, then `formats`; `rules.destinations` finds
the queue that a name leads to.
"""
