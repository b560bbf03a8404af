"""The client agent of HTTPR: it sends requests over the channels that this side opened."""
