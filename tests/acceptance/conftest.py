"""The specification's promises: their table, and which test holds which row.

A test carries ``@pytest.mark.promise("000-4")``, or several rows, and has the first row's number in its name.
A promise that is not kept yet is ``xfail(strict=True)`` with what was seen as its reason; keeping it takes
the mark off. ``scripts/promises.py`` prints the results.
"""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(*rows): the rows of promises_NNN.yaml that the test holds")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("promise"):
            item.user_properties.append(("promise", mark.args))
        for mark in item.iter_markers("xfail"):
            item.user_properties.append(("reason", mark.kwargs.get("reason", "")))
