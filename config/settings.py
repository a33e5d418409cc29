"""The program's settings: `askfirst.toml` in the working folder, overridden by `ASKFIRST_…` variables.

Every mistake is reported at once. Secrets are `SecretStr`: they print as stars.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from bot.core.moments.rhythm import hours_between, quiet_hours
from config.zones import WorldZones

FILE = Path("askfirst.toml")
PREFIX, NESTED = "ASKFIRST_", "__"
TOKEN = re.compile(r"\d+:[A-Za-z0-9_-]+")
KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
ID = re.compile(r"[A-Z][A-Z0-9]{2,20}")
SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
BUNDLED = Path(__file__).parent  # packs and phrases that ship with the program


class BadSettings(Exception):
    """The settings can not be used. The message lists every mistake, where it is, and what to do."""


class AccessSettings(BaseModel):
    """Who is let in: `platform:person-or-place` entries; `*` allowed; empty = nobody but the terminal (CH-5)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allow: tuple[str, ...] = Field(
        default=(),
        description=(
            "who is let in beside the terminal: a list of `platform:id`, of persons or places, such as "
            "`telegram:7512345678`; `telegram:*` and `*` let in everybody there; nobody if left out"
        ),
    )

    @field_validator("allow")
    @classmethod
    def _ids_not_names(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        """A name can change hands, so names are refused (CH-5)."""
        for entry in entries:
            platform, _, who = entry.partition(":")
            if entry != "*" and (not platform or not who or any(c.isspace() for c in entry)):
                raise ValueError(f"{entry!r} is not platform:id, as in telegram:7512345678 or slack:C0TRIAGE1")
            if who.startswith("@") or (platform == "telegram" and who != "*" and not who.lstrip("-").isdigit()):
                raise ValueError(
                    f"{entry!r} is a name, and names change hands. Give the id; the bot tells it when it refuses"
                )
        return entries


class TelegramSettings(BaseModel):
    """One bot. Polling needs no address of one's own; a webhook needs https and a secret."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: SecretStr | None = Field(default=None, description="the bot's token from @BotFather; switches Telegram on")
    base_url: str | None = Field(
        default=None, description="a Bot API server of one's own; ends in `/bot`, and the token follows"
    )
    webhook_url: str | None = Field(
        default=None, description="where Telegram is to deliver (https); else the bot asks Telegram for updates"
    )
    secret: SecretStr | None = Field(
        default=None,
        description="a long random word, sent along with each delivery; a webhook needs it",
    )

    @field_validator("token")
    @classmethod
    def _looks_like_one(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and not TOKEN.fullmatch(token.get_secret_value()):
            raise ValueError("this is no bot token; @BotFather gives one that looks like 123456:ABC-DEF…")
        return token

    @field_validator("base_url")
    @classmethod
    def _ends_in_bot(cls, url: str | None) -> str | None:
        if url is not None and not url.endswith("/bot"):
            raise ValueError("it must end in /bot, as in http://127.0.0.1:8081/bot; the token follows it")
        return url

    @model_validator(mode="after")
    def _a_webhook_has_a_secret(self) -> TelegramSettings:
        secret = None if self.secret is None else self.secret.get_secret_value()
        if secret is not None and not SECRET.fullmatch(secret):
            raise ValueError("secret: 1 to 256 of A–Z a–z 0–9 _ - (core.telegram.org/bots/api#setwebhook)")
        if self.webhook_url is not None and secret is None:
            raise ValueError(
                "webhook_url needs a secret: without it anybody could post forged updates. "
                "Set ASKFIRST_TELEGRAM__SECRET to a long random word"
            )
        return self


class SlackSettings(BaseModel):
    """One app. The socket needs no address of one's own; over HTTP everything is signed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bot_token: SecretStr | None = Field(
        default=None, description="the app's bot token (`xoxb-…`), from OAuth & Permissions; switches Slack on"
    )
    app_token: SecretStr | None = Field(
        default=None,
        description="an app-level token (`xapp-…`, `connections:write`): Slack is heard over a socket, else by HTTP",
    )
    signing_secret: SecretStr | None = Field(
        default=None, description="the app's signing secret, from Basic Information; needed by HTTP"
    )
    base_url: str | None = Field(default=None, description="another address of Slack's Web API; ends in `/api/`")
    client_id: str | None = Field(
        default=None, description="instead of a bot token: workspaces install the app themselves, at `/slack/install`"
    )
    client_secret: SecretStr | None = Field(default=None, description="of the same app, from Basic Information")
    token_key: SecretStr | None = Field(
        default=None,
        description="encrypts the tokens of these workspaces in the database: 32 random bytes as URL-safe base64",
    )
    public_url: str | None = Field(default=None, description="the https address at which browsers reach the program")
    reactions: tuple[str, ...] = Field(
        default=(), description="emoji names that ask for an intake when put on a message, such as `question`"
    )
    every_message: tuple[str, ...] = Field(
        default=(), description="ids of channels in which each new message asks for an intake, mentioned or not"
    )
    trusted_apps: tuple[str, ...] = Field(
        default=(),
        description="ids of apps (`A…`) that may post answers in the name of people, such as a dictation app",
    )

    @field_validator("bot_token")
    @classmethod
    def _a_bot_token(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and not token.get_secret_value().startswith(("xoxb-", "xoxe.xoxb-")):
            raise ValueError("this is no bot token; the app's page shows one that begins with xoxb-")
        return token

    @field_validator("app_token")
    @classmethod
    def _an_app_token(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and not token.get_secret_value().startswith("xapp-"):
            raise ValueError("this is no app-level token; Basic Information gives one that begins with xapp-")
        return token

    @field_validator("token_key")
    @classmethod
    def _a_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and not KEY.fullmatch(key.get_secret_value()):
            raise ValueError("this is no key; make one with: openssl rand -base64 32 | tr '+/' '-_'")
        return key

    @field_validator("public_url")
    @classmethod
    def _secure(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith("https://"):
            raise ValueError("it must begin with https://, as in https://bot.example.org")
        return url

    @field_validator("reactions")
    @classmethod
    def _without_colons(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip().strip(":") for name in names)

    @field_validator("every_message", "trusted_apps")
    @classmethod
    def _ids(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for entry in entries:
            if not ID.fullmatch(entry):
                raise ValueError(f"{entry!r} is no id; names change, ids do not. Slack shows it in the details")
        return entries

    @model_validator(mode="after")
    def _heard_somehow(self) -> SlackSettings:
        many = (self.client_id, self.client_secret, self.token_key, self.public_url)
        if any(one is not None for one in many):
            if self.bot_token is not None:
                raise ValueError("a bot_token is for one workspace and client_id for many; set one of them")
            if any(one is None for one in many):
                raise ValueError("client_id, client_secret, token_key and public_url belong together; set all four")
        if (self.bot_token or self.client_id) and self.app_token is None and self.signing_secret is None:
            raise ValueError(
                "bot_token needs a way to be heard: app_token for the socket (ASKFIRST_SLACK__APP_TOKEN), "
                "or signing_secret for HTTP (ASKFIRST_SLACK__SIGNING_SECRET)"
            )
        return self


class HttpSettings(BaseModel):
    """Where `askfirst serve` listens, when a part of it needs that or one of these is set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field(default="127.0.0.1", description="the address that `askfirst serve` listens on")
    port: int = Field(default=8080, ge=0, le=65535, description="its port; 0 takes a free one")


class _Environment(EnvSettingsSource):
    """A list that is no JSON is told with all other mistakes; the library would stop at it."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


class TimesSettings(BaseModel):
    """When something unasked may be said, where people have set nothing with `/settings` (CH-6)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    zone: str = Field(
        default="UTC", description="the time zone of people who have told none, such as `Europe/Berlin` or `UTC+2`"
    )
    quiet: str = Field(
        default="", description="hours in which nothing unasked is said, such as `22:00-08:00`; none if left out"
    )
    reminders: str = Field(
        default="off", description="reminders of open questions: `off`, `daily`, `weekly`, or such as `every 4 hours`"
    )

    @field_validator("zone")
    @classmethod
    def _a_zone(cls, zone: str) -> str:
        named = WorldZones().named(zone)
        if named is None:
            raise ValueError(f"{zone!r} is no time zone; write one such as Europe/Berlin, or UTC+2")
        return named

    @field_validator("quiet")
    @classmethod
    def _a_span(cls, quiet: str) -> str:
        if quiet and quiet != "off" and quiet_hours(quiet) is None:
            raise ValueError(f"{quiet!r} are no quiet hours; write from and to, such as 22:00-08:00")
        return quiet

    @field_validator("reminders")
    @classmethod
    def _a_rhythm(cls, reminders: str) -> str:
        if hours_between(reminders) is None:
            raise ValueError(f"{reminders!r} is no rhythm; write off, daily, weekly, or such as every 4 hours")
        return reminders

    @property
    def span(self) -> tuple[int, int] | None:
        return quiet_hours(self.quiet)

    @property
    def hours(self) -> int:
        return hours_between(self.reminders) or 0


class Settings(BaseSettings):
    """Everything that can be set. The descriptions are what docs/reference/settings.md is made from."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=NESTED,
        env_ignore_empty=True,  # `ASKFIRST_PACK= askfirst chat` means: as if it were not set
        toml_file=FILE,
        extra="forbid",
        frozen=True,
    )

    database: str = Field(
        default="askfirst.db", min_length=1, description='the SQLite file; "memory:" keeps everything in memory only'
    )
    config: Path = Field(
        default=BUNDLED,
        description="a folder with `packs/`, `phrases/`, `times/`; what it lacks is taken from the bundled ones",
    )
    pack: str | None = Field(
        default=None,
        description="the pack of places without a setting of their own; else `triage` in Slack, `research` elsewhere",
    )
    grace_seconds: float = Field(
        default=5.0, ge=0, le=3600, description="seconds between the last answer and the hand-over, to change one in"
    )
    deny_names: tuple[str, ...] = Field(
        default=(), description="names of customers and the like, which no question may hold; a JSON list"
    )
    lease_seconds: float = Field(
        default=10.0,
        ge=5,
        le=3600,
        description=(
            "with several workers on PostgreSQL: how long a worker that died keeps the others from a message that it "
            "was sending, and from polling in its place"
        ),
    )
    access: AccessSettings = AccessSettings()
    telegram: TelegramSettings = TelegramSettings()
    slack: SlackSettings = SlackSettings()
    http: HttpSettings = HttpSettings()
    times: TimesSettings = TimesSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, _Environment(settings_cls), TomlConfigSettingsSource(settings_cls)


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; `overrides` come from the command line and win."""
    given = {key: value for key, value in overrides.items() if value is not None}
    lines = list(_misspelt())
    try:
        if FILE.exists() and not FILE.is_file():
            raise BadSettings(f"{FILE} is no file, so no settings can be read from it. Move it away.")
        settings = Settings(**given)
    except ValidationError as error:
        lines += [_mistake(dict(one)) for one in error.errors(include_input=False, include_url=False)]
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{FILE} is not readable as TOML: {error}. Correct it, or move it away.") from None
    except UnicodeDecodeError:
        raise BadSettings(f"{FILE} is not UTF-8 text. Save it as UTF-8, or move it away.") from None
    except (OSError, ValueError) as error:
        raise BadSettings(f"the settings can not be read: {error}") from None
    if lines:
        raise BadSettings("\n".join(["the settings can not be used:", *lines]))
    return settings


def variables(model: type[BaseModel] = Settings, prefix: str = PREFIX) -> Iterator[tuple[str, FieldInfo]]:
    """Every setting by its variable, those of its parts after it."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables(inner, f"{prefix}{name.upper()}{NESTED}")
        else:
            yield f"{prefix}{name.upper()}", field


def _misspelt() -> Iterator[str]:
    """Variables that look like one of ours. Others that begin so may belong to somebody else, and are left alone."""
    given = {name.upper() for name in os.environ if name.upper().startswith(PREFIX)}
    known = [name for name, _ in variables()]
    strange = [name for name in sorted(given.difference(known)) if NESTED not in name]
    if strange:
        from difflib import get_close_matches

        for name in strange:
            for meant in get_close_matches(name, known, 1, cutoff=0.85):
                yield f"  {name}: no such setting; is {meant} meant?"


# Where the library would speak of Python's types; by its codes: docs.pydantic.dev/latest/errors/validation_errors
_HINTS = {
    "extra_forbidden": "no such setting; remove it",
    "tuple_type": 'must be a list of texts, such as ["telegram:7512345678"] (as a variable: in JSON)',
    "string_type": "must be a text, in quotes",
    "string_too_short": "must not be empty",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "model_type": "must be a table of settings",
    "model_attributes_type": "must be a table of settings",
    "path_type": "must be the path of a folder, in quotes",
}


def _mistake(error: dict[str, Any]) -> str:
    path = [str(part) for part in error["loc"]]
    variable = PREFIX + NESTED.join(part for part in path if not part.isdecimal()).upper()
    hint = _HINTS.get(error["type"], error["msg"].removeprefix("Value error, "))
    return f"  {'.'.join(path) or FILE} ({variable}, or in {FILE}): {hint}"
