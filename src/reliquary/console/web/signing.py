"""Sign-in and sign-out: a person types the token of a user, and the browser gets a session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import context_of
from reliquary.console.request import Asked
from reliquary.console.web.pages import field_of, go_to, read_form, render
from reliquary.console.web.sessions import COOKIE
from reliquary.net.identity.shown import Denied


class Typed:
    """A token that was typed in, as a request with that token would show it."""

    def __init__(self, token: str, peer: str) -> None:
        self.method = "POST"
        self.peer = peer
        self.fields: Sequence[tuple[bytes, bytes]] = ((b"authorization", b"Bearer " + token.encode()),)

    def header(self, name: bytes) -> bytes | None:
        """Return the value of a header; the token is the only one."""
        return dict(self.fields).get(name)


async def show_sign_in(request: Request) -> Response:
    """GET /console/sign-in."""
    return render(request, "sign_in.html", why="")


async def sign_in(request: Request) -> Response:
    """POST /console/sign-in."""
    context, fields = context_of(request), await read_form(request)
    if not context.users.any:
        return render(request, "sign_in.html", 401, why="this server knows no users")
    typed = Typed(field_of(fields, "token"), Asked(request.scope).peer)
    try:
        user = context.console.tokens.who(typed)
    except Denied as why:
        if why.wait:
            await asyncio.wait([asyncio.ensure_future(request.is_disconnected())], timeout=why.wait)
        return render(request, "sign_in.html", why.status, why=str(why))
    assert user is not None, "a token was shown"
    answer = go_to("/console", f"You are signed in as {user.name}.")
    answer.set_cookie(
        COOKIE,
        context.console.sessions.begin(user),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


async def sign_out(request: Request) -> Response:
    """POST /console/sign-out."""
    await read_form(request)
    context_of(request).console.sessions.end(Asked(request.scope))
    answer = go_to("/console/sign-in", "You are signed out.")
    answer.delete_cookie(COOKIE, path="/")
    return answer
