"""Leaves out the promises that a platform can not make: what it lacks is data of its harness, not a skip."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept, left_out = [], []
    for item in items:
        needed = getattr(getattr(item, "function", None), "needs", None)
        can = getattr(getattr(item, "cls", None), "can", None)
        (left_out if needed is not None and can is not None and needed not in can else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
