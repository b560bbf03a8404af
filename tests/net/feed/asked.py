"""Requests as an unknown client might send them."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit


def call(url: str, method: str, path: str, body: object = None, token: str = "") -> tuple[int, Any]:
    """Send one request; return the answer's status and JSON, or its bytes."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        connection.request(method, f"/api/v1{path}", data, headers)
        response = connection.getresponse()
        answer = response.read()
        is_json = response.headers.get("content-type") == "application/json" and answer
        return response.status, json.loads(answer) if is_json else answer
    finally:
        connection.close()


def refused(url: str, method: str, path: str, body: object = None, token: str = "") -> tuple[int, str, str]:
    """Send one request that must be refused; return status, code and sentence."""
    status, answer = call(url, method, path, body, token)
    assert status >= 400, answer
    assert set(answer) == {"error", "code"}
    return status, answer["code"], answer["error"]
