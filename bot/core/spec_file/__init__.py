"""Reads an exported specification back: every mistake with its path and a stable code, all at once (AU-1, CA-2).

A file is not trusted. An illegal way of choosing, a proof that names no message, a time that cannot be, a scope that
its own answers contradict: each is refused. Every other time is kept as what the file claims, beside the store's own.
"""

from bot.core.spec_file.document import proven, read
from bot.core.spec_file.told import Document, Mistake, Told

__all__ = ["Document", "Mistake", "Told", "proven", "read"]
