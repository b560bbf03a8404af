"""Names: what they say, which queue they mean, and what is known of queues elsewhere."""
