"""A step of a tool sequence: a tool, and how it was called."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a pattern, with the argument names of its most common form."""

    name: str
    selectors: dict[str, str]
    arg_keys: tuple[str, ...]

    def __str__(self) -> str:
        chosen = ", ".join(f"{key}={value}" for key, value in self.selectors.items())
        return f"{self.name}({chosen})" if chosen else self.name


def target_step(steps: tuple[Step, ...]) -> Step:
    """The step whose tool a pattern documents: the last with a selector, else the last."""
    return next((step for step in reversed(steps) if step.selectors), steps[-1])
