"""A Slack platform for tests: strict about every limit we know of, and awkward on request.

server = SlackServer(ManualClock())
ana, ben = server.person("Ana"), server.person("Ben")
triage = server.channel("triage", ana, ben)                 # our bot is in it, unless bot=False
async with server.serve() as base_url:                      # 127.0.0.1, real HTTP and WebSocket
    client = AsyncWebClient(server.token, base_url=base_url)
    … SocketModeClient(server.app.app_token, web_client=…); await server.sockets.connected()
    … or server.hooks.answer_with(starlette_app)            # or server.hooks.url = "http://127.0.0.1:…/slack/events"
    ana.say("@askfirst which database?", triage)            # acts wait until they are delivered
    await server.deliver()                                  # in order; each answered, late (3 s of the clock) or lost
    press = ana.press("A · SQLite"); ana.choose("B", of="round-1"); ana.type_in("why not", of="note")
    await server.deliver()
    ana.submit(); await server.deliver(); ana.modal.errors  # what the modal shows
    server.faults.limit(3, channel=triage)                  # the next call there gets 429
    await server.sockets.recycle(reason="warning")          # a disconnect frame
    print("\\n".join(server.what_people_see(triage)))
assert not server.broadcasts and not server.refused         # nobody was pinged, nothing was against the rules
server.verify()                                             # fails on everything that this fake does not know
"""

from tests.fakes.slack.errors import ClientRefused, Refusal, Unmodelled
from tests.fakes.slack.faults import Faults, Gate
from tests.fakes.slack.interactions import Interaction
from tests.fakes.slack.model import Channel, File, Installation, Message, Team, UserGroup, View
from tests.fakes.slack.outgoing import Delivery, Outcome
from tests.fakes.slack.people import Person
from tests.fakes.slack.seen import modal, said
from tests.fakes.slack.server import Call, SlackServer, WallClock
from tests.fakes.slack.text import Ping, escape, unescape
from tests.fakes.slack.world import App

__all__ = [
    "App",
    "Call",
    "Channel",
    "ClientRefused",
    "Delivery",
    "Faults",
    "File",
    "Gate",
    "Installation",
    "Interaction",
    "Message",
    "Outcome",
    "Person",
    "Ping",
    "Refusal",
    "SlackServer",
    "Team",
    "Unmodelled",
    "UserGroup",
    "View",
    "WallClock",
    "escape",
    "modal",
    "said",
    "unescape",
]
