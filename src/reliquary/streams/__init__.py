"""Delivers each message exactly once and in order, with any protocol.

A stream leads from one outgoing queue of a sender to one destination.  Its messages have the numbers 1, 2, 3
and so on; a receipt names the highest number that the receiver has taken, and with it all before it.

A protocol brings the names of its tables, its timers, and the encoding of numbers and receipts.  This
package counts, decides and writes rows; it sends nothing and sets no timer.  It imports `base` and the model
of `queueing`.  Read `acceptance` and `outgoing` first.  `acceptance` lists the modules.
"""
