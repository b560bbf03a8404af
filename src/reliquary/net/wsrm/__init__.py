"""WS-ReliableMessaging on real sockets.

receiving   POST /wsrm/... --> PostArrived --> PostAnswer --> the response; GET ...?wsdl --> a description
courier     Post --> one connection for each route --> PostEnded
"""
