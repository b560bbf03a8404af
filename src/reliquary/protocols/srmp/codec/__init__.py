"""SRMP's bytes: SOAP envelope and MIME parts on one side, values and `Message` on the other."""
