"""Authenticates clients for every endpoint and the control plane: users, credentials, foreign pages.

It may import `net.http`, `net.tcp` and `engine` and the rooms below.  Begin with `admission`.

    request --> Admission --> Principal           anonymous without a credential
                          '-> Denied              another host, a page of another site, an unknown credential

A password takes long to check, so a request may have to wait for it (`passwords`).
A client certificate is checked before any request comes, in the TLS handshake (`certificates`).
"""
