"""Streams that deliver each message exactly once and in order, whatever protocol carries them.

A stream leads from one outgoing queue of a sender to one destination.  Its messages have the numbers 1, 2, 3
and so on; a receipt names the highest number that the receiver has taken, and with it all before it.

    sender
        numbering       gives a stream its number, and new numbers to the messages of a stream without a start
        outgoing        keeps which message has which number
        ladder          says how long to wait for a receipt before all messages are sent again
        acknowledging   finds the messages that a receipt confirms
        closing         ends streams of an older era, after a restore
        progress        reports to the manager how far the stream got
    receiver
        acceptance      decides which messages are taken: the next one, and none twice
        incoming        decides when the receipt for several messages is due
        history         keeps identifiers of taken messages, which show duplicates outside a stream
        gaps            passes over numbers that are missing for good after a restore
    both
        restoring       marks all streams when the store was restored
        tables, facts, apply, recovery, state    the durable state, and the one place that changes it

A protocol brings the names of its tables, its timers, and the encoding of numbers and receipts.  This
package counts, decides and writes rows; it sends nothing and sets no timer.  It imports `base` and the model
of `queueing`.  Read `acceptance` and `outgoing` first.
"""
