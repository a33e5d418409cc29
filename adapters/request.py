"""The body of a request from a platform, read up to a bound."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request


async def read_body(request: Request, at_most: int) -> bytes | None:
    """None when it is longer than `at_most` bytes; reading stops there. b"" when the other side has gone."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > at_most:
        return None
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > at_most:
                return None
    except ClientDisconnect:
        return b""
    return bytes(body)
