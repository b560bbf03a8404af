"""Signs users in and out: after a name and a password, or a token, the browser gets a session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import Context, context_of
from reliquary.console.noting import tell
from reliquary.console.request import Asked
from reliquary.console.web.pages import field_of, go_to, read_form, render
from reliquary.net.identity.shown import Denied
from reliquary.queueing.model.security.principals import Principal


class Typed:
    """A typed token, in the form of a request with that token."""

    def __init__(self, token: str, peer: str) -> None:
        self.method = "POST"
        self.peer = peer
        self.fields: Sequence[tuple[bytes, bytes]] = ((b"authorization", b"Bearer " + token.encode()),)

    def header(self, name: bytes) -> bytes | None:
        """Return the value of a header; the token is the only one."""
        return dict(self.fields).get(name)


async def show_sign_in(request: Request) -> Response:
    """Serve GET /console/sign-in: show the form."""
    return render(request, "sign_in.html", why="")


async def sign_in(request: Request) -> Response:
    """Serve POST /console/sign-in: begin a session for the user of the form."""
    context, fields = context_of(request), await read_form(request)
    if not context.users.any:
        return render(request, "sign_in.html", 401, why="this server knows no users")
    typed_name = fields.get("user", "").strip()
    known = typed_name if typed_name in {each.name for each in context.users.principals} else "unknown"
    tell(request, who=known if typed_name else "anonymous")  # an unknown name may be a password
    try:
        user = await _find_user(context, fields, Asked(request.scope).peer)
    except Denied as why:
        tell(request, why=str(why))
        if why.wait:
            await asyncio.wait([asyncio.ensure_future(request.is_disconnected())], timeout=why.wait)
        return render(request, "sign_in.html", why.status, why=str(why))
    tell(request, who=user.name)
    context.console.sessions.end(Asked(request.scope))  # of the former user of this browser
    answer = go_to(request, "/console", f"You are signed in as {user.name}.")
    answer.set_cookie(
        context.console.sessions.cookie,
        context.console.sessions.begin(user),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


async def _find_user(context: Context, fields: dict[str, str], peer: str) -> Principal:
    """Return the user of a form; Denied if the input is wrong."""
    if fields.get("user", "").strip():
        name, password = field_of(fields, "user"), fields.get("password", "")
        return await context.console.passwords.sign_in(name, password, peer)
    found = context.console.tokens.who(Typed(field_of(fields, "token"), peer))
    assert found is not None, "a token was shown, and there are users"
    return found


async def sign_out(request: Request) -> Response:
    """Serve POST /console/sign-out: end the session."""
    await read_form(request)
    context_of(request).console.sessions.end(Asked(request.scope))
    answer = go_to(request, "/console/sign-in", "You are signed out.")
    answer.delete_cookie(context_of(request).console.sessions.cookie, path="/")
    return answer
