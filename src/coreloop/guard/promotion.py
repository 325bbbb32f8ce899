"""What a commit that says it is a promotion must be: trailers that agree, and one text in one docstring."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from coreloop.docstrings.source import UnprovenError, find_definition, read_source
from coreloop.guard.change import FileChange
from coreloop.guard.insertion import inserted_lines
from coreloop.guard.lines import refuse_lines
from coreloop.guard.words import Words
from coreloop.history.repository import Commit
from coreloop.history.trailers import (
    CANDIDATE_ID,
    CANDIDATE_KEY,
    NAMES,
    REPLAYS,
    SECTIONS,
    SYMBOL,
    read_trailers,
    write_title,
)
from coreloop.project.settings import Settings
from coreloop.text import printable

_ENGINE: Final = re.compile(r"\[CORELOOP-[RF]\] docs\(([^()]+)\): ")
_NUMBER: Final = re.compile(r" \(#[0-9]{1,9}\)$")
_IDS: Final = {"R": "cand-", "F": "ce-"}


def subject_of(commit: Commit) -> str:
    """A commit's subject without the number that GitHub puts behind it in a squash."""
    return _NUMBER.sub("", commit.message.partition("\n")[0].strip())


def engine_of(commit: Commit) -> str:
    """The tool that a promotion's subject names; "" where it names none."""
    found = _ENGINE.match(commit.message)
    return found[1] if found is not None else ""


def refuse_trailers(commit: Commit, settings: Settings) -> Iterator[str]:
    """What is missing or contradicts itself in a commit's message.

    Parameters
    ----------
    commit : Commit
        One that says it is a promotion.
    settings : Settings
        Of the base: where a tool's docstring is.
    """
    said, where = read_trailers(commit.message), f"commit {commit.sha[:12]}"
    missing = [name for name in NAMES if not said.get(name)]
    phase = said.get("Phase", "")
    if missing or phase not in SECTIONS:
        yield f"{where} lacks the trailers {', '.join(missing)}" if missing else f"{where} has no known Phase"
        return
    if not CANDIDATE_ID.fullmatch(said["Candidate-Id"]) or not said["Candidate-Id"].startswith(_IDS[phase]):
        yield f"the Candidate-Id of {where} is none of phase {phase}"
    if not CANDIDATE_KEY.fullmatch(said["Candidate-Key"]):
        yield f"the Candidate-Key of {where} is none that coreloop gives"
    if said["Replay"] not in REPLAYS[phase]:
        yield f"with the Replay of {where} coreloop promotes nothing"
    if subject_of(commit) != write_title(phase, engine_of(commit)):
        yield f"the subject of {where} is not the title of a promotion of phase {phase}"
    yield from _refuse_target(said["Target"], engine_of(commit), settings)


def _refuse_target(target: str, engine: str, settings: Settings) -> Iterator[str]:
    _, _, symbol = target.partition("::")
    declared = settings.tools[engine].target if engine in settings.tools else None
    named = symbol.partition(":")[0].rpartition(".")[2]
    if not SYMBOL.fullmatch(symbol) or (target != declared if declared else named != engine):
        yield f"the Target {printable(target)} is not the docstring of {printable(engine) or 'any tool'}"


def refuse_files(
    files: Sequence[FileChange], commit: Commit, *, settings: Settings, project: str
) -> Iterator[str]:
    """What a change does beside putting its lines into the one docstring.

    Parameters
    ----------
    files : sequence of FileChange
        All that differs.
    commit : Commit
        Whose trailers name the docstring and the figures.
    settings : Settings
        Of the base: the words that may be written.
    project : str
        Folder that targets are below: ``""``, or with a slash at its end.
    """
    if len(files) != 1:
        yield f"{len(files)} files change; a promotion changes one"
        return
    one, said = files[0], read_trailers(commit.message)
    file, _, symbol = said.get("Target", "").partition("::")
    if not one.is_regular or one.modes[0] != one.modes[1]:
        yield f"{printable(one.path)} is not only modified: its kind or mode changes, or it comes or goes"
    elif not one.path.endswith(".py"):
        yield f"{printable(one.path)} is no Python file"
    elif one.path != project + file:
        yield f"{printable(one.path)} changes, but the Target is {printable(said.get('Target', 'missing'))}"
    elif said.get("Phase") in SECTIONS and SYMBOL.fullmatch(symbol) and all(map(said.get, NAMES)):
        yield from _refuse_text(one, symbol, said, Words(settings, "", engine_of(commit)))


def _refuse_text(one: FileChange, symbol: str, said: Mapping[str, str], words: Words) -> Iterator[str]:
    qualname, _, line = symbol.partition(":")
    at, section = int(line) if line else None, SECTIONS[said["Phase"]]
    try:
        lines = inserted_lines(one.old, one.new, qualname=qualname, line=at, section=section)
        source = read_source(one.old)
        definition = find_definition(source.tree, qualname, at)
    except UnprovenError as reason:
        yield f"{printable(one.path)}: {reason}"
        return
    yield from refuse_lines(lines, said, replace(words, source=source.text, definition=definition))
