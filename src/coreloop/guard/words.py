"""The words that the base declares in its coreloop.yaml, in the edited file and in the tool's signature."""

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
    """The base's declarations.

    Attributes
    ----------
    settings : Settings
        The base's coreloop.yaml.
    source : str
        The text of the edited file.
    tool : str
        The docstring's tool; "" if unknown.
    definition : Definition, optional
        The tool's definition.
    """

    settings: Settings
    source: str
    tool: str = ""
    definition: Definition | None = None

    def may_name(self, value: str) -> bool:
        """Whether a line may contain a selector's value: declared, or a single word."""
        return self.is_declared(value) or _WORD.fullmatch(value) is not None

    def is_declared(self, value: str) -> bool:
        """Whether a value is a string in the file, or an axis of coreloop.yaml."""
        quoted = any(f"{quote}{value}{quote}" in self.source for quote in "\"'")
        return quoted or value in self.settings.axis_slugs

    def has_keyword(self, keyword: str) -> bool:
        """Whether coreloop.yaml has a keyword, for any category."""
        return any(keyword in rule.any for rule in self.settings.categories)

    def may_name_tool(self, name: str) -> bool:
        """Whether a line may contain a tool's name: declared, or a plain name."""
        in_source = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.source) is not None
        return name in self.settings.tools or in_source or _PLAIN_NAME.fullmatch(name) is not None

    def takes(self, argument: str) -> bool:
        """Whether the tool takes an argument."""
        return self.definition is not None and takes(self.definition, argument)
