"""The server agent: it answers the requests of other agents (D.1).

It may import what `protocols.httpr` may import, and its shared modules, and not `client`.  Begin with
`agent`.

agent            events of the network, signals of the queue manager and timers
identify         which channel a request is for    connections     the newest connection of a channel (3.8)
dispatch         one request after another         channel, state  what is known while the process runs
sessions         sessions and capabilities
info             GET-RESPONDER-INFO                report          REPORT
push             PUSH, first half of EXCHANGE      pull            PULL, second half of EXCHANGE
responses        the header of every response      refusals        the table of errors
administration   what an administrator asks for
"""
