"""The closed vocabulary of proposed text: tools, arguments and values.

Only names that coreloop.yaml or the source declares are written; all others become placeholders.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from coreloop.base.project.settings import Settings
from coreloop.base.project.tools import Tool, Unresolved, is_tool_name
from coreloop.learn.line import ELIDED, AdvisedCall, Named, Step, parse_advice
from coreloop.learn.proposals.allowed_lines import named

MAX_FIELD_CHARS: Final = 40  # chosen: longer names of fields are sentences


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that may be written to a docstring.

    Attributes
    ----------
    tools : dict of str to Tool or Unresolved
        Definitions of the tools concerned.
    settings : Settings
        Declared tools, axes and keywords.
    """

    tools: Mapping[str, Tool | Unresolved]
    settings: Settings

    def tool(self, name: str) -> Tool | None:
        """A tool's definition, or None if it is not known."""
        tool = self.tools.get(name)
        return tool if isinstance(tool, Tool) else None

    def is_known(self, name: str) -> bool:
        """Whether a tool is defined in the source or named in coreloop.yaml, rather than only in a log."""
        return name in self.settings.tools or self.tool(name) is not None

    def declares(self, value: str, tool: str) -> bool:
        """Whether coreloop.yaml or the tool's source declares a selector's value."""
        return value in self.settings.axis_slugs or value in self._literals(tool)

    def declares_all(self, steps: Iterable[Step]) -> bool:
        """Whether every selector's value of some steps is declared."""
        return all(self.declares(value, step.name) for step in steps for value in step.selectors.values())

    def knows_line(self, tool: str, line: str) -> bool:
        """Whether every name in a line is declared; a field of a result, a short ASCII name."""
        return (
            parse_advice(line) is not None
            and self.is_known(tool)
            and all(self._has(tool, one) for one in named(line))
        )

    def _has(self, tool: str, one: Named) -> bool:
        match one.kind:
            case "argument":
                return one.name in self.parameters(tool)
            case "value":
                return self.declares(one.name, tool)
            case "tool":
                return self.is_known(one.name)
            case "field":
                return one.name.isascii() and len(one.name) <= MAX_FIELD_CHARS
        return True

    def values_by_hash(self, tool: str) -> dict[int, str]:
        """Values that coreloop.yaml or the tool's source declares, by the hash that mining stores."""
        from coreloop.learn.facts.values import texts_by_hash

        return texts_by_hash((*self._literals(tool), *self.settings.axis_slugs, "true", "false"))

    def _literals(self, tool: str) -> frozenset[str]:
        known = self.tool(tool)
        return known.literals if known is not None else frozenset()

    def listed(self, tool: str, argument: str) -> frozenset[frozenset[str]]:
        """Sets of values that may be all that an argument takes: its annotation's, or a list of the file."""
        known = self.tool(tool)
        if known is None:
            return frozenset()
        if argument in known.choices:
            return frozenset({frozenset(known.choices[argument])})
        return known.listed | {frozenset(self.settings.axis_slugs)}

    def parameters(self, tool: str) -> tuple[str, ...]:
        """Argument names of the tool's signature; empty if it is not known."""
        known = self.tool(tool)
        return known.parameters if known is not None else ()

    def call(self, step: Step) -> AdvisedCall:
        """A call with the arguments of its signature, in that order; ``…`` for all others."""
        shown = [name for name in self.parameters(step.name) if name in {*step.arg_keys, *step.selectors}]
        shown += [name for name in step.selectors if name not in shown]
        arguments = [(name, self._value(name, step)) for name in shown]
        if len(shown) < len({*step.arg_keys, *step.selectors}):
            arguments.append((ELIDED, None))
        return AdvisedCall(step.name, tuple(arguments))

    def _value(self, name: str, step: Step) -> str | None:
        value = step.selectors.get(name)
        if value is None:
            return None
        return f'"{value}"' if self.declares(value, step.name) else f"<{name}>"

    def knows_step(self, step: Step) -> bool:
        """Whether a step's tool, arguments and values are declared."""
        arguments = {*self.parameters(step.name), *step.selectors}
        return self.is_known(step.name) and self.declares_all((step,)) and arguments >= {*step.arg_keys}

    def refuse(self, steps: Iterable[Step], *, target: str) -> str | None:
        """Why the names of some steps may not be written, or None.

        A tool that only a log names is refused if the text has a target; a draft without a target cannot be
        promoted and may show it.
        """
        names = [step.name for step in steps]
        if not all(is_tool_name(name) for name in names):
            return "a tool's name is not a valid name"
        if all(map(self.is_known, names)) or self.tool(target) is None:
            return None
        return "it names a tool that is not defined here; name it under tools: in coreloop.yaml"
