"""The program's settings: `askfirst.toml` in the working folder, overridden by `ASKFIRST_…` variables.

Every mistake is reported at once. Secrets are `SecretStr`: they print as stars.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

FILE = Path("askfirst.toml")
TOKEN = re.compile(r"\d+:[A-Za-z0-9_-]+")
SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
BUNDLED = Path(__file__).parent  # packs and phrases that ship with the program


class BadSettings(Exception):
    """The settings can not be used. The message lists every mistake, where it is, and what to do."""


class AccessSettings(BaseModel):
    """Who is let in: `platform:person-or-place` entries; `*` allowed; empty = nobody but the terminal (CH-5)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allow: tuple[str, ...] = ()

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
    """`token` switches Telegram on. `webhook_url` (https) makes Telegram call us, with `secret`; without, we poll.
    `base_url` ends in `/bot`, for a Bot API server of one's own or a fake one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: SecretStr | None = None
    base_url: str | None = None
    webhook_url: str | None = None
    secret: SecretStr | None = None

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


class HttpSettings(BaseModel):
    """Where `askfirst serve` listens, when a part of it needs that or one of these is set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)


class Settings(BaseSettings):
    """`database` is a path of a SQLite file, "memory:" or later a postgresql URL; `config` a folder with packs/ and
    phrases/ to use instead of the bundled ones; `pack` overrides the pack of places without a setting;
    `grace_seconds` is the time between the last answer and the hand-over (RD-16)."""

    model_config = SettingsConfigDict(
        env_prefix="ASKFIRST_", env_nested_delimiter="__", toml_file=FILE, extra="forbid", frozen=True
    )

    database: str = "askfirst.db"
    config: Path = BUNDLED
    pack: str | None = None
    grace_seconds: float = Field(default=5.0, ge=0, le=3600)
    access: AccessSettings = AccessSettings()
    telegram: TelegramSettings = TelegramSettings()
    http: HttpSettings = HttpSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; `overrides` come from the command line and win."""
    given = {key: value for key, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        lines = [_mistake(dict(one)) for one in error.errors(include_input=False, include_url=False)]
        raise BadSettings("\n".join(["the settings can not be used:", *lines])) from None
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{FILE} is not readable as TOML: {error}. Correct it, or move it away.") from None
    except (OSError, ValueError) as error:
        raise BadSettings(f"the settings can not be read: {error}") from None


def _mistake(error: dict[str, Any]) -> str:
    path = [str(part) for part in error["loc"]]
    variable = "ASKFIRST_" + "__".join(path).upper()
    hint = "no such setting; remove it" if error["type"] == "extra_forbidden" else error["msg"]
    return f"  {'.'.join(path) or FILE} ({variable}, or in {FILE}): {hint}"
