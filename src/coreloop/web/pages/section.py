"""What a section of the pages is: what it shows, and what its buttons do."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from coreloop.web.pages.page_data import PageSource

View = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button.

    Attributes
    ----------
    scope : {'run', 'review'}
        What a key must allow.
    run : callable
        Takes the source, the fields of the form and the reader's name; returns the path of the page that is
        shown then. A `coreloop.base.errors.CoreloopError` is shown as a sentence.
    """

    scope: Literal["run", "review"]
    run: Callable[[PageSource, Mapping[str, str], str], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """An entry of the navigation: a page, the pages of its items, and their buttons.

    Attributes
    ----------
    name : str
        In the address; ``NAME.html`` is the page's template.
    title : str
        In the navigation.
    read : callable
        Reads what the page shows.
    item : str
        Template of an item's page; empty if there are none.
    read_item : callable
        Takes the item's name; returns None for an unknown one.
    items : callable
        Names of the items that a report has.
    actions : mapping of str to Button
        By the last part of their address.
    """

    name: str
    title: str
    read: Callable[[PageSource], View]
    item: str = ""
    read_item: Callable[[PageSource, str], View | None] = lambda _source, _name: None
    items: Callable[[PageSource], Iterable[str]] = lambda _source: ()
    actions: Mapping[str, Button] = field(default_factory=dict)
