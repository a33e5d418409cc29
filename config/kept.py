"""What was read, checked and compiled once is kept for the next start, as Python keeps its compiled modules.

Reading, checking and compiling the packs and phrases takes half a second, more than all else of a start. The result
lies in the user's cache folder under a name made of the sources: their names, sizes, times (also the one that no
copying keeps) and rights, and the code that reads them. A file that changes gives another name, so nothing old is
ever taken. Whatever is wrong with what is kept, the sources are read again; whatever keeps it from being written,
nothing is kept.

It is a pickle from which only the product's own values come out (docs.python.org/3/library/pickle.html, "Restricting
Globals"), and a file that somebody else could have written is not opened.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pydantic

_CODE: Final = tuple(Path(__file__).parent.parent / part for part in ("bot", "config"))
_MODULES: Final = ("bot.core.",)  # of the values in it
_MOST: Final = 4  # files left behind: a few folders of configuration, and both sides of an upgrade


class _Values(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if not module.startswith(_MODULES) or "." in name:  # with a dot it may be what a module of ours imports
            raise pickle.UnpicklingError(f"{module}.{name} is none of our values")
        return super().find_class(module, name)


def name_of(sources: Iterable[Path], *also: object) -> str:
    """A name for what these folders and this code lead to; `also` is what else decides it."""
    digest = hashlib.sha256(repr((sys.version, pydantic.VERSION, also)).encode())
    for folder in (*_CODE, *sources):
        for entry in sorted(_files(os.fspath(folder))):
            digest.update(repr(entry).encode(errors="surrogatepass"))
    return digest.hexdigest()[:32]


class Parts(Mapping[str, Any]):
    """Values by name, each unpacked when it is first asked for: a chat needs one pack of several."""

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = packed
        self.unpacked: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.unpacked:
            self.unpacked[name] = _Values(io.BytesIO(self._packed[name])).load()
        return self.unpacked[name]

    def __contains__(self, name: object) -> bool:
        return name in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def load(name: str) -> dict[str, Parts] | None:
    """What was kept under the name, or None."""
    folder = _folder()
    if folder is None:
        return None
    try:
        with (folder / f"{name}.pickle").open("rb") as file:
            about = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o022):
                return None
            check, whole = file.read(4), file.read()
        if check != _check(whole):
            return None
        return {kind: Parts(packed) for kind, packed in _Values(io.BytesIO(whole)).load().items()}
    except Exception:  # noqa: BLE001 - a damaged pickle can raise anything; the sources are still there
        return None


def keep(name: str, kinds: Mapping[str, Mapping[str, object]]) -> None:
    folder = _folder()
    if folder is None:
        return
    written = folder / f"{name}.{os.getpid()}.new"
    with suppress(Exception):
        whole = _packed({kind: {part: _packed(one) for part, one in parts.items()} for kind, parts in kinds.items()})
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(_check(whole) + whole)
            written.replace(folder / f"{name}.pickle")
        finally:
            written.unlink(missing_ok=True)
        for old in sorted(folder.glob("*.pickle"), key=lambda path: path.stat().st_mtime)[:-_MOST]:
            old.unlink()


def _packed(value: object) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _check(whole: bytes) -> bytes:
    """Tells damage, which would otherwise be found in the middle of a conversation; a part is unpacked late."""
    return zlib.crc32(whole).to_bytes(4)


def _folder() -> Path | None:
    """specifications.freedesktop.org/basedir-spec: a relative path there counts as none.

    None without a home, which the user of a container may lack: `~` then stays as it is.
    """
    for named in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):  # noqa: PTH111
        if (folder := Path(named, "askfirst")).is_absolute():
            return folder
    return None


def _files(folder: str) -> Iterator[tuple[str, int, int, int, int]]:
    """Every source below a folder. What can not be looked at is left out: reading it tells what is wrong."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                about = entry.stat()
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        yield (entry.path, about.st_mode, 0, 0, 0)
                        yield from _files(entry.path)
                elif entry.name.endswith((".yaml", ".yml", ".py")):
                    yield (entry.path, about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
