"""The feed of a queue: every message that became visible in it, numbered, for readers that remove nothing.

    feature     what feeds register
    rules       what readers ask;  permits: who may ask;  reading: ranges of a feed
    consumers   how far each reader has come;  apply: what facts about consumers change
    trimming    messages that every consumer has read are deleted, some in each turn
    limits      consumers lose what is oldest beyond their limits;  ages: how old messages are
    steering    limits are set, consumers are paused, and cursors are moved by people

`changes.numbering` gives each message its place, which never changes; `changes.retention` keeps what a
consumer has not read.  It imports `rules`, `changes` and `model`, and no other feature. Begin with
`rules`.
"""
