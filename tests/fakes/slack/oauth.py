"""Installing and leaving: oauth.v2.access, rotation, auth.revoke, apps.connections.open.

docs.slack.dev/authentication/installing-with-oauth and …/using-token-rotation.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.fakes.slack.access import TOKEN_LIFE
from tests.fakes.slack.errors import ClientRefused, Refusal
from tests.fakes.slack.files import Files
from tests.fakes.slack.model import Installation, Json, Team

CODE_LIFE = timedelta(minutes=10)  # "exchange … within 10 minutes"


class OAuth(Files):
    def consent(self, person: Any, address: str, *, team: Team | None = None) -> str:
        """A person agrees at the authorize address of the app; gives back the address that the browser opens."""
        asked = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        if not urlsplit(address).path.endswith("/oauth/v2/authorize"):
            raise ClientRefused(f"not the address to install an app: {address}")
        if asked.get("client_id") != self.app.client_id:
            raise ClientRefused("invalid_client_id")
        scopes = set(asked.get("scope", "").split(",")) - {""}
        if not scopes or scopes - self.app.scopes:
            raise ClientRefused(f"invalid_scope: {sorted(scopes - self.app.scopes)}")
        back = asked.get("redirect_uri", self.app.redirect_urls[0] if self.app.redirect_urls else "")
        if self.app.redirect_urls and not any(back.startswith(url) for url in self.app.redirect_urls):
            raise ClientRefused("bad_redirect_uri")
        code = self.code(team or person.team, scopes, person, back)
        return f"{back}?{urlencode({'code': code, 'state': asked.get('state', '')})}"

    def code(self, team: Team, scopes: set[str] | None = None, person: Any = None, redirect: str = "") -> str:
        code = f"{team.id}.{self.number()}.code"
        self.codes[code] = (team, scopes or self.app.scopes, person, redirect, self.clock.now())
        return code

    def oauth_v2_access(self, app: Any, p: Json) -> Json:
        if p.get("client_id") != self.app.client_id:
            raise Refusal("invalid_client_id")
        if p.get("client_secret") != self.app.client_secret:
            raise Refusal("bad_client_secret")
        if p.get("grant_type", "authorization_code") == "refresh_token":
            return self._refreshed(p.get("refresh_token", ""))
        if p.get("grant_type", "authorization_code") != "authorization_code":
            raise Refusal("invalid_grant_type")
        given = self.codes.get(p.get("code", ""))
        if given is None:
            raise Refusal("invalid_code")
        team, scopes, person, redirect, at = given
        if self.clock.now() - at > CODE_LIFE:
            raise Refusal("invalid_code")
        if p["code"] in self.used_codes:
            raise Refusal("code_already_used")
        if p.get("redirect_uri", redirect) != redirect:
            raise Refusal("bad_redirect_uri")
        self.used_codes.add(p["code"])
        made = self.install(team, scopes=scopes)
        return self._granted(made, {"id": person.id if person else "U0INSTALL"})

    def _refreshed(self, token: str) -> Json:
        """A refresh token works once; the old access token lives on until its twelve hours are over."""
        known = [team.app for team in self.teams.values() if team.app and team.app.refresh == token]
        if not known or not self.app.rotation:
            raise Refusal("invalid_refresh_token")
        if known[0].dead:
            raise Refusal(known[0].dead)
        self.grant(known[0])
        return self._granted(known[0], None)

    def _granted(self, app: Installation, who: Json | None) -> Json:
        made: Json = {"access_token": app.token, "token_type": "bot", "scope": ",".join(sorted(app.scopes))}
        made |= {"bot_user_id": app.bot.id, "app_id": self.app.id, "is_enterprise_install": app.org_wide}
        enterprise = {"id": app.team.enterprise, "name": "Org"} if app.team.enterprise else None
        more: Json = {"team": {"id": app.team.id, "name": app.team.name}, "enterprise": enterprise}
        if app.expires:
            more |= {"refresh_token": app.refresh, "expires_in": int(TOKEN_LIFE.total_seconds())}
        return made | more | ({"authed_user": who} if who else {})

    def auth_revoke(self, app: Installation, p: Json) -> Json:
        if p.get("test"):
            return {"revoked": False}
        self.revoke(app.team)
        return {"revoked": True}

    def apps_connections_open(self, app: Installation, p: Json) -> Json:
        address = self.origin.replace("http", "ws", 1)
        return {"url": f"{address}/link/?{urlencode({'ticket': self.sockets.ticket(), 'app_id': self.app.id})}"}
