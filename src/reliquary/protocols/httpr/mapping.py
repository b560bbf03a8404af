"""Message attributes <-> HTTPR message header fields, chapter 6.2; nothing is lost on a round trip."""
