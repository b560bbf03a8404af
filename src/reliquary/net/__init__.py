"""The real world: sockets, the real clock, chance from the operating system."""
