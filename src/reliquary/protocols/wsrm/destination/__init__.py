"""The RM destination: sequences that come in, what of them is acknowledged, and how much room there is."""
