"""Reliquary: a reliable message queue manager."""
