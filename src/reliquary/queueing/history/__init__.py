"""What happened to each message, told once and for good: from facts to rows that are exported."""
