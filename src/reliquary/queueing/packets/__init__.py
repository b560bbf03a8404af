"""Messages as [MS-MQMQ] UserMessage packets, with bodies sealed and messages signed."""
