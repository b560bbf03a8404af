"""TCP connections below every protocol: opening them, and which of several epochs counts."""
