"""The words that the base declares: its coreloop.yaml, the file that is edited, and the tool in it."""

import re
from dataclasses import dataclass
from typing import Final

from coreloop.docstrings.signature import takes
from coreloop.docstrings.source import Definition
from coreloop.project.settings import Settings

_WORD: Final = re.compile(r"[\w-]{1,40}")
_PLAIN_NAME: Final = re.compile(r"[\w-]{1,64}")


@dataclass(frozen=True, slots=True)
class Words:
    """What the base declares.

    Attributes
    ----------
    settings : Settings
        Its coreloop.yaml.
    source : str
        The text of the file that is edited.
    tool : str
        The tool that the docstring belongs to; "" where nothing is said of it.
    definition : Definition, optional
        Its definition.
    """

    settings: Settings
    source: str
    tool: str = ""
    definition: Definition | None = None

    def declares(self, value: str) -> bool:
        """Whether a selector's value may be written; one that nobody declared must at least be one word."""
        return self.declares_here(value) or _WORD.fullmatch(value) is not None

    def declares_here(self, value: str) -> bool:
        """Whether a value stands in the file as a text, or is an axis of coreloop.yaml."""
        quoted = any(f"{quote}{value}{quote}" in self.source for quote in "\"'")
        return quoted or value in self.settings.axis_slugs

    def has_keyword(self, keyword: str) -> bool:
        """Whether coreloop.yaml has a keyword, for whatever category."""
        return any(keyword in rule.any for rule in self.settings.categories)

    def knows_tool(self, name: str) -> bool:
        """Whether a tool's name may be written; one that is not declared must at least be one word."""
        named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.source)
        return name in self.settings.tools or named is not None or _PLAIN_NAME.fullmatch(name) is not None

    def takes(self, argument: str) -> bool:
        """Whether the tool has an argument of a name."""
        return self.definition is not None and takes(self.definition, argument)
