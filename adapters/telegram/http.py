"""The library's requests over aiohttp: one kept pool of connections, at a fraction of what httpx takes for a call.

No error here holds an address: the token is in it.
"""

from __future__ import annotations

import functools
import ssl

import aiohttp
import httpx
from telegram._utils.defaultvalue import DefaultValue
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, RequestData

JSON = {"Content-Type": "application/json", "User-Agent": BaseRequest.USER_AGENT}
OTHER = {"User-Agent": BaseRequest.USER_AGENT}
UPLOAD = 40.0  # seconds more for a call with a file in it
KEPT = 50.0  # seconds that a connection is kept for the next call; the server closes it after a minute

_WHY: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientConnectorDNSError, "the name of the host is not found: see the name service"),
    (aiohttp.ClientSSLError, "no safe connection: see certificates, and the clock"),
    (aiohttp.ClientConnectorError, "no connection to the host"),
    (aiohttp.ServerDisconnectedError, "the connection was lost"),
)

_WORDS = frozenset(words for _, words in _WHY)

Seconds = float | DefaultValue[float] | DefaultValue[None] | None


class Connections(BaseRequest):
    """`most` connections at once; a call waits up to `patience` seconds for one, or for its answer."""

    __slots__ = ("_most", "_patience", "_session")

    def __init__(self, most: int, patience: float = 15.0) -> None:
        self._most = most
        self._patience = patience
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float:
        return self._patience

    async def initialize(self) -> None:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._most, limit_per_host=0, keepalive_timeout=KEPT, ssl=_certificates()
            )
            self._session = aiohttp.ClientSession(connector=connector, trust_env=True)

    async def shutdown(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Seconds = BaseRequest.DEFAULT_NONE,
        write_timeout: Seconds = BaseRequest.DEFAULT_NONE,  # noqa: ARG002 - of the library's interface
        connect_timeout: Seconds = BaseRequest.DEFAULT_NONE,
        pool_timeout: Seconds = BaseRequest.DEFAULT_NONE,  # noqa: ARG002
    ) -> tuple[int, bytes]:
        if self._session is None:
            raise NetworkError("the connections are closed")
        body: bytes | aiohttp.FormData | None = None
        headers, more = OTHER, 0.0
        if request_data is not None and request_data.contains_files:
            body, more = _form(request_data), UPLOAD
        elif request_data is not None:
            body, headers = request_data.json_payload, JSON
        read, connect = self._given(read_timeout), self._given(connect_timeout)
        timeout = aiohttp.ClientTimeout(total=read + connect + more, connect=connect)
        try:
            async with self._session.request(method, url, data=body, headers=headers, timeout=timeout) as response:
                return response.status, await response.read()
        except TimeoutError:
            raise TimedOut from None
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(_why(error)) from None

    def _given(self, seconds: Seconds) -> float:
        return self._patience if seconds is None or isinstance(seconds, DefaultValue) else float(seconds)


def why(error: TelegramError) -> str:
    """What may be logged of a failed call: our own words, and of anybody else's only the kind of failure."""
    return error.message if error.message in _WORDS else type(error).__name__


def _why(error: Exception) -> str:
    """In words of ours: those of the library name the address."""
    return next((words for kind, words in _WHY if isinstance(error, kind)), type(error).__name__)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Those that the library would use; a system may have none of its own. Reading them takes a while."""
    return httpx.create_ssl_context()


def _form(request_data: RequestData) -> aiohttp.FormData:
    form = aiohttp.FormData(quote_fields=False)  # names as they are: nobody decodes them again
    for name, value in request_data.json_parameters.items():
        form.add_field(name, value)
    for name, (filename, content, media) in (request_data.multipart_data or {}).items():
        form.add_field(name, content, filename=filename, content_type=media)
    return form
