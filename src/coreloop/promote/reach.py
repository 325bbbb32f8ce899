"""Whether new text reaches the model: what the tool's description is before and after the edit."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coreloop.docstrings.edit import Edited
from coreloop.leftovers import temporary_folder
from coreloop.promote.elsewhere import Elsewhere, find_elsewhere
from coreloop.promote.schema import SchemaCommand, check_origin, read_description
from coreloop.text import counted


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit on a description, in characters: a request with a longer one is answered with an error.

    Attributes
    ----------
    name : str
        Of a model or a provider.
    limit : int
        Characters.
    over, over_before : int
        Characters beyond the limit with the edit and without it, 0 within.
    """

    name: str
    limit: int
    over: int
    over_before: int


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Nobody knows what the model receives, since coreloop.yaml does not say how to read it."""

    @property
    def ok(self) -> bool:
        """Never: what was not measured has not passed."""
        return False

    @property
    def forbidden(self) -> tuple[str, ...]:
        """What stands in the way, whatever is allowed."""
        return ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """What stands in the way unless a human allows it."""
        what = "unmeasured, nobody knows whether the new lines reach the model"
        return (f"reach: {what}; set reach: in coreloop.yaml (docs/reference/settings.md)",)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the model receives.

    Attributes
    ----------
    before, after : str
        The description of the tool without and with the edit.
    source : str
        Who says so, for a human.
    missing : tuple of str
        New lines that are not in ``after`` at all; all of them where the edit changed nothing and nobody can
        tell which files the command read.
    caps : tuple of Cap
        One per name of coreloop.yaml.
    elsewhere : Elsewhere, optional
        Where the description is written, if it is not made from the docstring.
    """

    before: str
    after: str
    source: str
    missing: tuple[str, ...]
    caps: tuple[Cap, ...]
    elsewhere: Elsewhere | None = None

    @property
    def ok(self) -> bool:
        """Whether every new line arrives, and no request fails for the length."""
        return not self.forbidden and not self.doubts

    @property
    def forbidden(self) -> tuple[str, ...]:
        """What stands in the way, whatever is allowed."""
        elsewhere = (f"reach: {self.elsewhere.sentence}",) if self.elsewhere is not None else ()
        return (*elsewhere, *(f"reach: {_exceeded(cap)}" for cap in self.caps if cap.over))

    @property
    def doubts(self) -> tuple[str, ...]:
        """What stands in the way unless a human allows it."""
        if not self.missing or self.elsewhere is not None:
            return ()
        what = f"{counted(len(self.missing), 'new line')} not in the description that the model receives"
        return (f"reach: {what}",)


Reach = Measured | Unmeasured


def compare_descriptions(
    before: str,
    after: str,
    lines: Sequence[str],
    *,
    caps: Mapping[str, int],
    source: str,
) -> Measured:
    """Compare a tool's two descriptions.

    Parameters
    ----------
    before, after : str
        As the model receives them.
    lines : sequence of str
        What is new.
    caps : mapping of str to int
        Model or provider -> characters.
    source : str
        Where the descriptions come from.
    """
    return Measured(
        before=before,
        after=after,
        source=source,
        missing=tuple(line for line in lines if not _arrives(line, after)),
        caps=tuple(
            Cap(name, limit, max(0, len(after) - limit), max(0, len(before) - limit))
            for name, limit in caps.items()
        ),
    )


def measure_reach(
    command: SchemaCommand,
    export: Callable[[Path], None],
    prefix: str,
    file: str,
    edited: Edited,
    *,
    tool: str,
    caps: Mapping[str, int],
) -> Measured:
    """Ask for the tool's description in a copy of the project, without and with the edit.

    Parameters
    ----------
    command : SchemaCommand
        What prints the descriptions.
    export : callable
        Writes the project's files, unedited, into a folder.
    prefix : str
        The project's folder below it, empty when it is the same; the command runs there.
    file : str
        The edited file's path below the project's folder.
    edited : Edited
        The edit.
    tool : str
        Name of the tool in the schema.
    caps : mapping of str to int
        Model or provider -> characters.

    Raises
    ------
    ReachError
        The command failed, took too long, printed no schema with that tool, or did not read the exported
        files.
    """
    with temporary_folder("coreloop-reach-") as scratch:
        root = Path(scratch, "tree")
        root.mkdir()
        export(root)
        folder = root / prefix
        before = read_description(command, folder, tool)
        (folder / file).write_bytes(edited.source)
        after = read_description(command, folder, tool)
        verified = before != after or check_origin(command, folder, file)
    found = compare_descriptions(before, after, edited.appended, caps=caps, source=command.source)
    if before != after or not verified:
        return found if verified else replace(found, missing=edited.appended)
    elsewhere = find_elsewhere(edited, before, tool=tool, missing=found.missing)
    return replace(found, elsewhere=elsewhere)


def _arrives(line: str, text: str) -> bool:
    """Whether a line's words stand in a text as a whole; a catalogue may print a list without its dashes."""
    words = re.escape(_flat(line).removeprefix("- "))
    return re.search(rf"(?<!\w){words}(?!\w)", _flat(text)) is not None


def _flat(text: str) -> str:
    """The words one after the other; a schema may break lines elsewhere."""
    return " ".join(text.split())


def _exceeded(cap: Cap) -> str:
    already = f"; it is {counted(cap.over_before, 'character')} too long already" if cap.over_before else ""
    return (
        f"every request to {cap.name} would fail: the description is {counted(cap.over, 'character')} longer "
        f"than the {cap.limit:,} that it takes (caps in coreloop.yaml){already}; shorten the docstring"
    )
