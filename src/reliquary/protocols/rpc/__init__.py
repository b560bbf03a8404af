"""DCE/RPC 5.0 over a connection without I/O, C706 chapters 9 to 12 and [MS-RPCE] 3.3.

It may import `streams`, `queueing`, `wire` and `base`, and no other protocol.  Begin with `phases`.

server        one accepted connection: bytes in, calls out; answers in, bytes out
  phases        what it does with each PDU
  presentation  which interfaces and transfer syntaxes a client may use
  logins        the security contexts of a client
  calls         requests into calls, and answers into responses
  limits        how much a client may have
client        one connection that we opened: calls in, bytes out; bytes in, answers out
events        what received bytes mean, for the network layer
fragments     bytes into PDUs, and fragments into stubs; `sending` is the other way
guards        one security context at work
associations  the groups of connections that share context handles
security      what a connection asks of NTLM or SPNEGO; `net/rpc` has the implementation
mgmt, epm     the two interfaces that every server has: what runs here, and at which port

It knows no interface but the last two: `net/rpc` names those that there are, and takes the calls away.
"""
