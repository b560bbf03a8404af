"""Translates exceptions of lower packages into errors of the client, for a manager in process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure, UsageError
from reliquary.client.errors import BadRequest, StoreUnusable, error_of
from reliquary.net.api.errors import NOT_DONE
from reliquary.queueing.model.administration import Refusal
from reliquary.views.administration import NotDone


@contextmanager
def translate_errors() -> Iterator[None]:
    """Translate exceptions of lower packages into errors of the client."""
    try:
        yield
    except (UsageError, TypeError, ValueError) as why:
        raise BadRequest("INVALID_PARAMETER", str(why)) from why
    except Refusal as why:
        raise error_of(why.status.name, str(why)) from why
    except NotDone as why:
        raise error_of(NOT_DONE, str(why)) from why
    except StoreFailure as why:
        raise StoreUnusable(f"STORE_{why.kind.upper()}", str(why)) from why
    except StoreDamage as why:
        raise StoreUnusable("STORE_DAMAGED", str(why)) from why
    except StartFailed as why:
        raise StoreUnusable("START_FAILED", str(why)) from why
