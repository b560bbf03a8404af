"""Sends feeds and receives batches as Arrow streams over HTTP, with the columns of `wire.columns`.

It may import `net.api`, `net.rpc`, `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms
below.  Begin with `endpoint`.

feed out   ReadFeed turns in the loop --> positions --> rows of messages --> columns, in a thread
batch in   body --> record batches, in a thread --> messages --> StageMessages turns in the loop
"""
