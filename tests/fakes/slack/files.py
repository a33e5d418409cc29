"""files.* and the three addresses around them: upload, download, and the page for those who may not."""

from __future__ import annotations

from aiohttp import web

from tests.fakes.slack.errors import Refusal
from tests.fakes.slack.model import File, Installation, Json, Message
from tests.fakes.slack.views import Views

MAX_FILE = 1 << 30  # slack.com/help: "files up to 1 GB"
LOGIN_PAGE = "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to your workspace</body></html>"


class Files(Views):
    def files_get_upload_url_external(self, app: Installation, p: Json) -> Json:
        if p["length"] < 1 or p["length"] > MAX_FILE:
            raise Refusal("invalid_arguments" if p["length"] < 1 else "file_upload_size_restricted")
        file = self.file(p["filename"], b"", app.bot.id)
        file.done, file.more = False, {"length": p["length"]}
        return {"upload_url": f"{self.origin}/upload/v1/{file.id}", "file_id": file.id}

    def files_complete_upload_external(self, app: Installation, p: Json) -> Json:
        chosen = []
        for given in p["files"]:
            file = self.files.get(given.get("id", ""))
            if set(given) - {"id", "title", "highlight_type"}:
                self.complain(f"files.completeUploadExternal: a file with {sorted(given)}")
            if file is None or not file.content:
                raise Refusal("file_not_found")
            if file.done:
                raise Refusal("file_already_completed")
            file.done, file.more = True, ({"title": given["title"]} if given.get("title") else {})
            chosen.append(file)
        for place in p.get("channels", []) + ([p["channel_id"]] if "channel_id" in p else []):
            channel = self.destination(app, place)
            thread, stray = self.thread_of(channel, p.get("thread_ts"))
            bot = {"bot_id": app.bot_id, "app_id": self.app.id}
            message = Message(channel, self.ts(), app.bot.id, p.get("initial_comment", ""), app.team.id, bot=bot)
            message.thread_ts, message.files, message.subtype = thread, chosen, "file_share"
            self.put(message)
            if stray:
                self.strays.append(message)
            self.posted(message)
        return {"files": [file.json() for file in chosen]}

    def files_info(self, app: Installation, p: Json) -> Json:
        file = self.files.get(p["file"])
        if file is None or not file.done:
            raise Refusal("file_not_found")
        if file.more.get("file_access") == "check_file_info":  # Slack Connect: the stub becomes a file
            file.more = {}
        return {"file": file.json(), "comments": [], "response_metadata": {"next_cursor": ""}}

    def file(self, name: str, content: bytes, user: str, mimetype: str = "application/octet-stream") -> File:
        made = File(
            self.new_id("F"), name, content, mimetype, user, int(self.clock.now().timestamp()), origin=self.origin
        )
        self.files[made.id] = made
        return made

    # -- addresses -----------------------------------------------------------------------------------------------

    async def upload(self, request: web.Request) -> web.Response:
        """POST of the bytes, raw or as a form part. Answers in plain text."""
        file = self.files.get(request.match_info["file"])
        if file is None or file.done:
            return web.Response(status=404, text="no such upload")
        if request.content_type.startswith("multipart/"):
            parts = await request.post()
            content = b"".join(part.file.read() for part in parts.values() if isinstance(part, web.FileField))
        else:
            content = await request.read()
        if len(content) != file.more["length"]:
            return web.Response(status=400, text=f"expected {file.more['length']} bytes, got {len(content)}")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def download(self, request: web.Request) -> web.Response:
        """Without token or scope: a page to sign in, with 200."""
        file = self.files.get(request.match_info["file"])
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        app = self.tokens[token][0] if token in self.tokens else None
        if app is None or app.dead or "files:read" not in app.scopes:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        if file is None or not file.done:
            return web.Response(status=404, text="file not found")
        return web.Response(body=file.content, content_type=file.mimetype)
