"""Tests that every code of the specification has its status, and that the API document agrees."""

from __future__ import annotations

import re
from pathlib import Path

from reliquary.base.hresult import HResult
from reliquary.net.api.errors import (
    BUSY,
    METHOD_NOT_ALLOWED,
    NOT_DONE,
    PATH_NOT_FOUND,
    STATUS,
    STOPPING,
    error_json,
)
from reliquary.net.identity.failures import TooManyFailures
from reliquary.net.identity.hosts import WrongHost
from reliquary.net.identity.rates import TooManyRequests
from reliquary.net.identity.users import UNAUTHENTICATED

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "api.md"


def test_no_code_is_without_a_status() -> None:
    assert set(STATUS) == set(HResult)


def test_only_codes_that_are_no_refusals_have_status_200() -> None:
    assert {code for code, status in STATUS.items() if status < 400} == {HResult.OK, HResult.IO_TIMEOUT}


def test_the_document_has_this_table() -> None:
    rows = re.findall(r"^\| (\d{3}) \| (.+) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {
        (int(status), code) for status, codes in rows for code in re.findall(r"[A-Z][A-Z_]{3,}", codes)
    }
    ours = {(status, code.name) for code, status in STATUS.items() if status >= 400}
    ours |= {
        (401, UNAUTHENTICATED),
        (404, PATH_NOT_FOUND),
        (405, METHOD_NOT_ALLOWED),
        (409, NOT_DONE),
        (421, WrongHost.code),
        (429, TooManyFailures.code),
        (429, TooManyRequests.code),
        (503, BUSY),
        (503, STOPPING),
    }
    assert ours <= documented
    assert {code for _, code in documented - ours} == {"TOO_LARGE", "FAILED"}  # the control plane's


def test_an_error_is_a_sentence_and_a_code() -> None:
    assert error_json("QUEUE_NOT_FOUND", 'no "x"') == b'{"error":"no \\"x\\"","code":"QUEUE_NOT_FOUND"}'
