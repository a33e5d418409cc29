"""Words that turn what is said into its opposite."""

from __future__ import annotations

_NEGATORS = frozenset(
    """unable not no non none without never neither nor except excluding exclude avoid skip ignore drop cannot instead
    dont unnecessary nicht kein keine keinen keiner ohne statt pas sans sin não sem не без без нет không đừng
    keinerlei нельзя ni nem
    不 别 別 非 无 無 沒 没 勿""".split()  # noqa: SIM905
)


def negates(word: str) -> bool:
    return word in _NEGATORS or word.endswith("n't")
