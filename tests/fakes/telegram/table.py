"""The methods that this server knows, with their parameters, when no published description is at hand.

`name!:type` is required. Names and types are those of Bot API 10.1; a test holds the table against the description.
"""

from __future__ import annotations

_SEND = (
    "business_connection_id:str chat_id!:int|str message_thread_id:int direct_messages_topic_id:int "
    "disable_notification:bool protect_content:bool allow_paid_broadcast:bool message_effect_id:str "
    "suggested_post_parameters:Other reply_parameters:ReplyParameters parse_mode:str "
    "reply_markup:InlineKeyboardMarkup|ReplyKeyboardMarkup|ReplyKeyboardRemove|ForceReply "
)
_EDITED = "business_connection_id:str chat_id:int|str message_id:int inline_message_id:str "

METHODS = {
    "getMe": "",
    "getUpdates": "offset:int limit:int timeout:int allowed_updates:str[]",
    "setWebhook": "url!:str certificate:InputFile ip_address:str max_connections:int allowed_updates:str[] "
    "drop_pending_updates:bool secret_token:str",
    "deleteWebhook": "drop_pending_updates:bool",
    "getWebhookInfo": "",
    "sendMessage": _SEND + "text!:str entities:MessageEntity[] link_preview_options:LinkPreviewOptions",
    "editMessageText": _EDITED + "text:str parse_mode:str entities:MessageEntity[] rich_message:Other "
    "link_preview_options:LinkPreviewOptions reply_markup:InlineKeyboardMarkup",
    "editMessageReplyMarkup": _EDITED + "reply_markup:InlineKeyboardMarkup",
    "deleteMessage": "chat_id!:int|str message_id!:int",
    "sendDocument": _SEND + "document!:InputFile|str thumbnail:InputFile|str caption:str "
    "caption_entities:MessageEntity[] disable_content_type_detection:bool",
    "answerCallbackQuery": "callback_query_id!:str text:str show_alert:bool url:str cache_time:int",
    "setMyCommands": "commands!:BotCommand[] scope:BotCommandScope language_code:str",
    "getMyCommands": "scope:BotCommandScope language_code:str",
    "deleteMyCommands": "scope:BotCommandScope language_code:str",
    "getChat": "chat_id!:int|str",
    "getChatMember": "chat_id!:int|str user_id!:int",
    "sendChatAction": "business_connection_id:str chat_id!:int|str message_thread_id:int action!:str",
    "getFile": "file_id!:str",
    "createForumTopic": "chat_id!:int|str name!:str icon_color:int icon_custom_emoji_id:str",
    "leaveChat": "chat_id!:int|str",
}

TYPES = {
    "InlineKeyboardMarkup": "inline_keyboard!:InlineKeyboardButton[][]",
    "InlineKeyboardButton": "text!:str icon_custom_emoji_id:str style:str url:str callback_data:str web_app:Other "
    "login_url:Other switch_inline_query:str switch_inline_query_current_chat:str "
    "switch_inline_query_chosen_chat:Other copy_text:CopyTextButton callback_game:Other pay:bool",
    "CopyTextButton": "text!:str",
    "ReplyKeyboardMarkup": "keyboard!:KeyboardButton[][] is_persistent:bool resize_keyboard:bool "
    "one_time_keyboard:bool input_field_placeholder:str selective:bool",
    "KeyboardButton": "text!:str icon_custom_emoji_id:str style:str request_users:Other request_chat:Other "
    "request_managed_bot:Other request_contact:bool request_location:bool request_poll:Other web_app:Other",
    "ReplyKeyboardRemove": "remove_keyboard!:bool selective:bool",
    "ForceReply": "force_reply!:bool input_field_placeholder:str selective:bool",
    "ReplyParameters": "message_id!:int chat_id:int|str allow_sending_without_reply:bool quote:str "
    "quote_parse_mode:str quote_entities:MessageEntity[] quote_position:int checklist_task_id:int poll_option_id:str",
    "MessageEntity": "type!:str offset!:int length!:int url:str user:Other language:str custom_emoji_id:str "
    "unix_time:int date_time_format:str",
    "LinkPreviewOptions": "is_disabled:bool url:str prefer_small_media:bool prefer_large_media:bool "
    "show_above_text:bool",
    "BotCommand": "command!:str description!:str",
    "BotCommandScope": "type!:str chat_id:int|str user_id:int",
}
