"""The protocols, each in a room of its own: codec, events, faults, machines.  No room knows another."""
