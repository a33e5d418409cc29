"""Telegram, through python-telegram-bot's `Bot` and types. The facts of the platform stop here.

Durations come as `timedelta` (docs.python-telegram-bot.org: PTB_TIMEDELTA); without this, reading one warns.
"""

from __future__ import annotations

import os

os.environ.setdefault("PTB_TIMEDELTA", "true")
