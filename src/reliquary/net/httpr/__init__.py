"""HTTPR on sockets: the courier brings the requests of our client agent to others."""
