"""Implements DCE/RPC over sockets for both sides; `protocols/rpc` encodes and decodes the bytes.

It may import `net.identity`, `net.http`, `net.tcp` and `engine` and the rooms below.  Begin with
`listener`.

listener, connection, shared   connections that clients open: limits, drain, calls to the services
service                        the implementation of an interface
ntlm, ntlm_claims              NTLM and SPNEGO for both sides, through pyspnego
guesses                        wrong proofs: counted, logged, answered with growing delays
dialing, outgoing, mapper      outgoing connections, and their ports
"""
