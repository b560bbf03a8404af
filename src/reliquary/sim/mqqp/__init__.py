r"""Simulates MQQP between several sites: every site is a server of its queues, and a client of the others.

It may import `engine`, `store` and the rooms below, and no socket.
Begin with `plugin`, which lists the modules.

    application at A --ReceiveMessages(DIRECT=OS:B\private$\inbox)--> manager and client role of A
        --CallServer--> network: connections of a link, which are cut, stuck and slow --ClientCalled-->
    server role and manager of B, whose queue local applications fill and read too
"""
