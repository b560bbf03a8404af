"""Feeds leave and batches come as Arrow streams: the columns of `wire.columns` over HTTP.

feed out   ReadFeed turns in the loop --> positions --> rows of messages --> columns, in a thread
batch in   body --> record batches, in a thread --> messages --> StageMessages turns in the loop
"""
