"""Converts messages to [MS-MQMQ] UserMessage packets and back, with encrypted bodies and signatures.

It imports `wire` and `model`, and no other feature; it registers no rules.  Begin with `messages`.
"""
