"""Files by their handle, `<team>:<file id>`: where one lies is asked each time, and fetched with the token.

Without the permission Slack answers with a page to sign in, and 200 (docs.slack.dev/reference/objects/file-object).
"""

from __future__ import annotations

import aiohttp
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import code_of, named
from adapters.slack.workspaces import Workspaces
from bot.ports import TryLater, Undeliverable

GONE = ("file_not_found", "file_deleted", "not_visible", "access_denied")
PAGE = "text/html"


class SlackFiles:
    def __init__(self, workspaces: Workspaces, session: aiohttp.ClientSession) -> None:
        self._workspaces = workspaces
        self._session = session

    async def fetch(self, handle: str, limit: int) -> bytes:
        """The content, of at most `limit` bytes and one more, by which a longer one is known."""
        team, _, file = handle.partition(":")
        workspace = await self._workspaces.of(team)
        if workspace is None:
            raise Undeliverable("the app is not installed in this workspace any more")
        try:
            answer = await workspace.client.files_info(file=file)
        except SlackApiError as error:
            if code_of(error) in GONE:
                raise Undeliverable("Slack no longer shows it") from None
            failure = named(error)
            raise failure if isinstance(failure, Undeliverable) else TryLater(str(failure)) from None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise TryLater(type(error).__name__) from None
        found = answer.get("file") or {}
        url = found.get("url_private_download") or found.get("url_private")
        if not isinstance(url, str):
            raise Undeliverable("Slack does not give its content")
        return await self._download(url, str(workspace.client.token), str(found.get("mimetype") or ""), limit)

    async def _download(self, url: str, token: str, claimed: str, limit: int) -> bytes:
        try:
            async with self._session.get(url, headers={"Authorization": f"Bearer {token}"}) as response:
                if response.status >= 500 or response.status == 429:
                    raise TryLater(f"Slack answered {response.status}")
                if response.status != 200:
                    raise Undeliverable("Slack no longer has it")
                if response.content_type == PAGE and claimed != PAGE:
                    raise Undeliverable("the app may not read files; install it anew from its manifest")
                content = bytearray()
                async for chunk in response.content.iter_chunked(64 * 1024):
                    content += chunk
                    if len(content) > limit:
                        break
                return bytes(content)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise TryLater(type(error).__name__) from None
