"""Streams that deliver each message exactly once and in order, whatever protocol carries them.

A stream leads from one outgoing queue of a sender to one destination.  Its messages have the numbers 1, 2, 3
and so on; a receipt names the highest number that the receiver has taken, and with it all before it.

    sender
        numbering       the number of a stream, and what is left of a stream whose start is lost
        outgoing        which message has which number
        ladder          how long a receipt is waited for, before all is sent again
        acknowledging   what a receipt confirms
        progress        how far the stream got, for the manager
    receiver
        acceptance      which messages are taken: the next one, and none twice
        incoming        when the receipt for several messages is due
        history         identifiers of messages that came: outside a stream, they alone tell a duplicate
        gaps            numbers that are missing for good, after a restore
    both
        restoring       the marks of all streams when the store was restored
        tables, facts, apply, recovery, state    what outlives the process, and the one place that changes it

A protocol brings the names of its tables, its timers, and the bytes that carry numbers and receipts.  This
room counts, decides and stages rows; it sends nothing and sets no timer.
"""
