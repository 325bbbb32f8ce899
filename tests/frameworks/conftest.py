"""These tests install frameworks: they run only where they are asked for by name, ``-m frameworks``."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "frameworks" in config.getoption("markexpr"):
        return
    left_out = [item for item in items if item.get_closest_marker("frameworks")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
