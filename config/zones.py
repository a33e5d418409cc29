"""The zones of the world, from the system's time zone files or the package `tzdata`."""

from __future__ import annotations

from datetime import tzinfo
from functools import cached_property

from bot.core.moments.zones import Zones


class WorldZones(Zones):
    """Zones by their names (`Europe/Berlin`) and by their cities (`berlin`, `new york`), besides fixed offsets."""

    def named(self, words: str) -> str | None:
        wanted = "_".join(words.split()).casefold()
        return super().named(words) or self._names.get(wanted)

    def zone(self, name: str) -> tzinfo | None:
        fixed = super().zone(name)
        if fixed is not None:
            return fixed
        from zoneinfo import ZoneInfo

        try:
            return ZoneInfo(name)
        except (KeyError, OSError, ValueError):  # not found; a folder; a name with ".."
            return None

    @cached_property
    def _names(self) -> dict[str, str]:
        """Looked up when somebody names a zone, not at the start: it reads some hundred files."""
        from zoneinfo import available_timezones

        found: dict[str, str] = {}
        for name in sorted(available_timezones(), key=lambda n: (n.count("/"), n)):
            found.setdefault(name.casefold(), name)
            area, _, city = name.rpartition("/")
            if area and not area.startswith(("Etc", "posix", "right", "SystemV", "US", "Canada")):
                found.setdefault(city.casefold(), name)
        return found
