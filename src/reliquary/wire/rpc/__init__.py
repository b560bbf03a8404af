"""The PDUs of DCE/RPC 5.0 over a connection, C706 chapter 12 and [MS-RPCE] 2.2.2: bytes and values.

It may import `base` and other modules of `wire`.  Begin with `header`.

header      what opens every PDU
binds       bind, alter_context, their answers, bind_nak, auth3
calls       request, response, fault, co_cancel, orphaned, shutdown
verifier    what authenticates a PDU, at its end
trailer     what verifies the headers of a request, at the end of its stub
features    what client and server can do beyond C706
syntaxes    identifiers of interfaces and of transfer syntaxes
statuses    why a call or a connection is refused
protection  the levels of authentication
towers      where an interface is, as the endpoint mapper writes it
"""
