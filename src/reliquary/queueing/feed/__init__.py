"""The feed of a queue: all that ever became visible in it, numbered, for readers who take nothing away.

numbering   the place of each message in the feed, which never changes
consumers   how far each reader has come
retention   what a reader has not read stays, wherever else it goes
trimming    what nobody has to read any more goes, a turn's worth at a time
reading     ranges of a feed
rules       what readers ask
"""
