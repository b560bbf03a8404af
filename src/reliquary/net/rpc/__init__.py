"""DCE/RPC over sockets, both sides; what the bytes mean is the matter of `protocols/rpc`.

It may import `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin with
`listener`.

listener, connection, shared   connections that clients open: limits, drain, calls to the services
service                        what stands behind an interface
ntlm, ntlm_claims              NTLM and SPNEGO for both sides, through pyspnego
guesses                        wrong proofs: counted, logged, answered later and later
dialing, outgoing, mapper      connections that we open, and at which port
"""
