"""Makes the TLS context of a client: the authorities that it trusts, and its certificate."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from reliquary.client.errors import BadRequest


@dataclass(frozen=True, slots=True)
class ClientCertificates:
    """PEM files of a client, by their names, so that they can be sent to another process."""

    ca_file: str = ""
    """The authorities for the certificate of the server; empty for those of the system."""
    certificate: str = ""
    """The certificate that the client shows if the server requests one."""
    key: str = ""
    """The key of that certificate; empty if the file of the certificate contains it."""

    def context(self) -> ssl.SSLContext:
        """Return a new context; BadRequest names a file that cannot be used."""
        if self.key and not self.certificate:
            raise BadRequest("INVALID_PARAMETER", "a key needs the certificate that it belongs to")
        try:
            made = ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as why:  # an ssl.SSLError is also one
            raise _unusable("file of authorities", self.ca_file, why) from why
        try:
            if self.certificate:
                made.load_cert_chain(self.certificate, self.key or None)
        except OSError as why:
            raise _unusable("certificate", self.certificate, why) from why
        return made


def _unusable(what: str, file: str, why: OSError) -> BadRequest:
    return BadRequest("INVALID_PARAMETER", f"the {what} {file!r} cannot be used: {why}")
