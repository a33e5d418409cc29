"""A Telegram Bot API server for tests: strict about every limit we know of, and awkward on request.

server = TelegramServer(ManualClock())
ana = server.person("Ana", username="ana_t")
ana.say("/new")
bot = server.bot()                                   # python-telegram-bot, in process
update = (await bot.get_updates())[0]
await bot.send_message(ana.id, "Pick one", reply_markup=...)
ana.press("A · SQLite")                              # by label or data, on the newest message that has it
server.faults.limit(3, chat=ana.id)                  # the next call there gets 429
print(ana.chat)                                      # the chat as people see it
"""

from tests.fakes.telegram.errors import Refusal
from tests.fakes.telegram.faults import Faults, Gate
from tests.fakes.telegram.history import Call
from tests.fakes.telegram.model import Chat, Message, Topic
from tests.fakes.telegram.people import Person, Query
from tests.fakes.telegram.schema import Mismatch, Schema, Upload
from tests.fakes.telegram.server import TelegramServer, WallClock
from tests.fakes.telegram.updates import Update
from tests.fakes.telegram.webhook import Attempt

__all__ = [
    "Attempt",
    "Call",
    "Chat",
    "Faults",
    "Gate",
    "Message",
    "Mismatch",
    "Person",
    "Query",
    "Refusal",
    "Schema",
    "TelegramServer",
    "Topic",
    "Update",
    "Upload",
    "WallClock",
]
