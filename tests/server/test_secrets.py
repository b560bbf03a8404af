"""Secrets of a server never come into what it prints, logs or writes beside its messages."""

from __future__ import annotations

import signal
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from reliquary.net.identity.nt_hash import nt_hash
from tests.net.identity.cheap_hash import cheap_hash
from tests.server.process import PATIENCE, running

TOKEN, PASSWORD = "token-of-root-4711", "password-of-root-0815"
WRONG_TOKEN, WRONG_PASSWORD, PEERS_TOKEN = "guessed-token-12", "guessed-password-34", "token-for-a-peer-56"


def ask(url: str, proof: str, form: bytes | None = None) -> None:
    """Send one request, and accept any answer."""
    headers = {"Authorization": proof} if proof else {}
    try:
        with urlopen(Request(url, form, headers), timeout=PATIENCE):
            pass
    except HTTPError as refused:
        refused.close()


def test_a_run_with_right_and_wrong_proofs_leaves_no_secret_behind(tmp_path: Path) -> None:
    hashes = (sha256(TOKEN.encode()).hexdigest(), cheap_hash(PASSWORD), nt_hash(PASSWORD))
    file = tmp_path / "reliquary.toml"
    file.write_text(
        f'[httpr]\ntokens = {{"https://far.example" = "{PEERS_TOKEN}"}}\n[[users]]\nname = "root"\n'
        'role = "administrator"\n'
        f'token_sha256 = "{hashes[0]}"\npassword_hash = "{hashes[1]}"\nnt_hash = "{hashes[2]}"\n'
    )
    with running(tmp_path / "data", SETTINGS=str(file), LOG_LEVEL="info") as server:
        proofs = [f"Bearer {TOKEN}", f"Bearer {WRONG_TOKEN}"]
        proofs += [
            f"Basic {b64encode(f'root:{each}'.encode()).decode()}" for each in (PASSWORD, WRONG_PASSWORD)
        ]
        for plane in (server.data, server.control):
            for proof in proofs:
                ask(f"{plane}/api/v1/nothing", proof)
                ask(f"{plane}/api/v1/queues/orders/messages", proof)
        form = urlencode({"user": "root", "password": WRONG_PASSWORD, "token": WRONG_TOKEN}).encode()
        ask(f"{server.control}/console/sign-in", "", form)
        server.signal(signal.SIGHUP)
        server.signal(signal.SIGTERM)
        code, err = server.end()
    assert code == 0
    acts = (tmp_path / "data" / "acts" / "acts-00000001.jsonl").read_text()
    assert "the token belongs to no user of this server: check it, or get a new one" in err
    assert "the name and the password belong to no user: check both" in acts
    for secret in (TOKEN, PASSWORD, WRONG_TOKEN, WRONG_PASSWORD, PEERS_TOKEN, *proofs, *hashes):
        shown = secret.partition(" ")[2] or secret
        assert shown not in server.said + err + acts
