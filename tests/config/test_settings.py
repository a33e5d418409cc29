"""Settings: names are refused in the allow-list (field case b16), every mistake is told at once."""

from __future__ import annotations

import pytest

from config.settings import BadSettings, load_settings


def test_a_name_in_the_allow_list_is_refused_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """CH-5: names change hands; ids do not."""
    monkeypatch.setenv("ASKFIRST_ACCESS__ALLOW", '["telegram:@ana"]')
    with pytest.raises(BadSettings, match="names change hands"):
        load_settings()


@pytest.mark.parametrize(
    "entry", ["telegram:7512345678", "telegram:-1002512345678", "slack:U0ANA0001", "slack:*", "*"]
)
def test_ids_and_stars_are_taken(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKFIRST_ACCESS__ALLOW", f'["{entry}"]')
    assert load_settings().access.allow == (entry,)


def test_every_mistake_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKFIRST_ACCESS__ALLOW", '["ana"]')
    monkeypatch.setenv("ASKFIRST_GRACE_SECONDS", "soon")
    with pytest.raises(BadSettings) as caught:
        load_settings()
    assert "ASKFIRST_ACCESS__ALLOW" in str(caught.value)
    assert "ASKFIRST_GRACE_SECONDS" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TELEGRAM__TOKEN", "hello", "no bot token"),
        ("TELEGRAM__BASE_URL", "http://127.0.0.1:8081", "end in /bot"),
        ("TELEGRAM__WEBHOOK_URL", "https://bot.example.org", "needs a secret"),
        ("TELEGRAM__SECRET", "with blanks in it", "1 to 256"),
        ("HTTP__PORT", "70000", "65535"),
    ],
)
def test_a_telegram_setting_that_can_not_work_is_refused(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"ASKFIRST_{name}", value)
    with pytest.raises(BadSettings, match=words):
        load_settings()


def test_a_token_prints_as_stars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKFIRST_TELEGRAM__TOKEN", "123456:ABC-DEF")
    settings = load_settings()
    assert "ABC-DEF" not in repr(settings) + str(settings.model_dump())
