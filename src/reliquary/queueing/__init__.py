"""The queue manager of [MS-MQDMPR] as a machine: no I/O, no clock, no chance of its own."""
