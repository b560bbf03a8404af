"""SRMP on real sockets: POSTs that come are events, POSTs that go are effects of the machine.

receiving   POST /msmq/... --> PostArrived --> PostAnswer --> a status line
courier     Post --> one connection for each outgoing queue --> PostEnded
"""
