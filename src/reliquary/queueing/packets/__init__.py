"""Messages as [MS-MQMQ] UserMessage packets, with encrypted bodies and signatures.

It imports `wire` and `model`, and no other feature; it registers no rules.  Begin with `messages`.
"""
