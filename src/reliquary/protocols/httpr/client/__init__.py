"""The client agent: it sends requests over the channels of which we are the requester (B.3, B.5).

It may import what `protocols.httpr` may import, and its shared modules, and not `server`.  Begin with
`agent`.

agent            events of the network, signals of the queue manager and timers
advance          which request comes next        phases          the table of phases of a channel
channels         which channel carries a queue   channel, state  what is known while the process runs
connection       requests without a response     session         the capabilities both sides agreed on
refusals         what the peer refused           requests        the header of every request
info             GET-RESPONDER-INFO              report          REPORT, `forget` and the end of a session
push             PUSH, first half of EXCHANGE    pull            PULL, second half of EXCHANGE
flow_responses   responses to these three        outcomes        what a response says of batches in doubt
failures         retry, reconnect                reactions       the table of errors
administration   what an administrator asks for
"""
