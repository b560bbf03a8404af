"""Bytes of the referenced specifications: each codec knows its layout and nothing of queues."""
