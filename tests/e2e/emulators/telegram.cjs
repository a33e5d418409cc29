// telegram-test-api behind a small front, so that python-telegram-bot accepts what it answers. The package keeps its
// storage, its queue of updates, webhooks, editing and the people's side (/sendMessage, /sendCallback, /getUpdates…).
// The front adds what it lacks: fields that the Bot API requires, long polling, the webhook's secret, documents.
// usage: PORT=… node telegram.cjs
const express = require("express");
const axios = require("axios");
const TelegramServer = require("telegram-test-api");

const server = new TelegramServer({ port: Number(process.env.PORT), host: "127.0.0.1", storeTimeout: 3600 });
const now = () => Math.floor(Date.now() / 1000);
const me = (token) => ({
  id: Number(String(token).split(":")[0]),
  is_bot: true,
  first_name: "Askfirst",
  username: "askfirst_bot",
  can_join_groups: true,
  can_read_all_group_messages: true,
  supports_inline_queries: false,
});
const place = (id) =>
  id < 0 ? { id, type: "supergroup", title: "Triage" } : { id, type: "private", first_name: "Ana" };

const add = server.addBotMessage.bind(server);
server.addBotMessage = (raw, token) => {
  const message = add(raw, token);
  const id = Number(raw.chat_id);
  Object.assign(message, { date: now(), from: me(token), chat: place(id) });
  for (const key of ["chat_id", "parse_mode", "reply_parameters", "link_preview_options"]) delete message[key];
  if (!message.reply_markup) delete message.reply_markup;
  return message;
};
const format = TelegramServer.formatUpdate;
TelegramServer.formatUpdate = (update) => {
  const made = format(update);
  if (made.callback_query) made.callback_query.chat_instance = "1";
  return made;
};

const app = express();
app.use(express.json());
app.use(express.urlencoded({ extended: true }));
const ok = (response, result) => response.json({ ok: true, result });
const record = (token, method, body) =>
  server.storage.botMessages.push({
    time: Date.now(), botToken: token, message: { method, ...body }, updateId: -1, messageId: -1, isRead: true,
  });

let secret = "";
axios.interceptors.request.use((config) => {
  if (secret) config.headers["X-Telegram-Bot-Api-Secret-Token"] = secret;
  return config;
});
app.all("/bot:token/setWebhook", (request, response) => {
  secret = request.body.secret_token || "";
  server.setWebhook({ url: request.body.url }, request.params.token);
  ok(response, true);
});
app.all("/bot:token/deleteWebhook", (request, response) => {
  server.deleteWebhook(request.params.token);
  ok(response, true);
});
app.all("/bot:token/getMe", (request, response) => ok(response, me(request.params.token)));
app.all("/bot:token/getWebhookInfo", (request, response) =>
  ok(response, {
    url: (server.webhooks[request.params.token] || {}).url || "",
    has_custom_certificate: false,
    pending_update_count: 0,
  }));
app.all("/bot:token/getUpdates", async (request, response) => {
  const end = Date.now() + 1000 * Math.min(Number(request.body.timeout || 0), 50);
  for (;;) {
    const updates = server.getUpdates(request.params.token);
    if (updates.length || Date.now() >= end || request.destroyed) return ok(response, updates);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
for (const method of ["editMessageText", "editMessageReplyMarkup"]) {
  app.all(`/bot:token/${method}`, (request, response) => {
    const known = (update) =>
      String(update.messageId) === String(request.body.message_id) &&
      String(update.message.chat_id) === String(request.body.chat_id);
    if (!server.storage.botMessages.some(known)) {
      return response.status(400).json({
        ok: false, error_code: 400, description: "Bad Request: message to edit not found",
      });
    }
    server[method]({ reply_markup: '{"inline_keyboard":[]}', ...request.body });
    const { messageId, time, message } = server.storage.botMessages.find(known);
    ok(response, {
      message_id: messageId, date: Math.floor(time / 1000), edit_date: now(), text: message.text,
      chat: place(Number(request.body.chat_id)), from: me(request.params.token),
    });
  });
}
let documents = 1_000_000;
app.all("/bot:token/sendDocument", (request, response) => {
  record(request.params.token, "sendDocument", {});
  request.resume();
  request.on("end", () =>
    ok(response, { message_id: ++documents, date: now(), chat: place(1), from: me(request.params.token) }));
});
for (const method of ["answerCallbackQuery", "setMyCommands", "deleteMyCommands", "sendChatAction"]) {
  app.all(`/bot:token/${method}`, (request, response) => {
    record(request.params.token, method, request.body);
    ok(response, true);
  });
}
const inner = server.webServer;
app.use((request, response, next) => inner(request, response, next));
server.webServer = app;
app.settings.env = inner.settings.env;
server.start().then(() => console.log("listening"));
