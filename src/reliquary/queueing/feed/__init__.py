"""The feed of a queue: all that ever became visible in it, numbered, for readers who take nothing away.

numbering   the place of each message in the feed, which never changes
consumers   how far each reader has come; what he has not read stays, wherever else it goes
reading     ranges of a feed
"""
