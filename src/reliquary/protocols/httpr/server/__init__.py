"""The server agent of HTTPR: it answers the requests of other agents."""
