"""Proof that a promotion is what `promote` writes: its edit is made again from the base and compared."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from coreloop.base.git.repository import Commit, Replaced, Repository
from coreloop.base.git.trailers import SECTIONS, SYMBOL, read_promoted
from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.settings import Settings
from coreloop.base.records import join_steps, step
from coreloop.base.text import printable
from coreloop.descriptions.own_lines import docstring_bullets, promoted_lines, text_of
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.sections import Style
from coreloop.descriptions.texts import SUFFIXES, put_lines
from coreloop.learn.line import SequenceLine, keys_of, parse_advice, parse_line, statement_key
from coreloop.learn.proposals.allowed_lines import Words, is_form, refuse_line, refuse_words

_STYLES: Final[tuple[Style, ...]] = ("numpydoc", "google", "markdown")


def changed_lines(
    old: bytes,
    new: bytes,
    target: str,
    *,
    sections: Sequence[str],
    style: Style = "numpydoc",
) -> tuple[list[str], list[str]]:
    """The bullets that a docstring gains and loses, where `promote` writes the same bytes.

    Parameters
    ----------
    old, new : bytes
        The file before and after.
    target : str
        As in the trailers; the path does not matter.
    sections : sequence of str
        Where lines may be besides the first block of text; only with one of them.
    style : {"numpydoc", "google", "markdown"}
        Style of a new section.

    Raises
    ------
    UnprovenError
        The change does anything else.
    """
    before, after = (docstring_bullets(side, target) for side in (old, new))
    added, removed = list((after - before).elements()), list((before - after).elements())
    path, text = target.partition("::")[0], text_of(old, target)
    alone = sections if len(sections) == 1 else ()  # lines of two phases stand in the first block
    for section, kind in dict.fromkeys([(None, style), *product(alone, (style, *_STYLES))]):
        with suppress(UnprovenError):
            wanted = Wanted(tuple(added), section, kind, is_form)
            edited = put_lines(path, old, text, wanted, replaced=removed)
            if edited.source == new:
                return added, removed
    raise UnprovenError(f"{printable(target)} is not as promote writes it; promote it again")


@dataclass(frozen=True, slots=True)
class Proof:
    """A promotion's commit, between two commits that its edit is between.

    Attributes
    ----------
    old, new : str
        The commit's parent and itself; or a pull request's beginning and head.
    project : str
        The project's folder below the repository's root, with its slash.
    base : str
        The commit that must declare the names and values of its lines.
    """

    repository: Repository
    commit: Commit
    old: str
    new: str
    settings: Settings
    project: str
    base: str

    @property
    def groups(self) -> tuple[dict[str, str], ...]:
        """The trailers of each proposal."""
        return read_promoted(self.commit.message)

    @property
    def target(self) -> str:
        return self.groups[0].get("Target", "") if self.groups else ""

    def refuse(self) -> Iterator[str]:
        """Why the change is not exactly what `promote` writes for its proposals."""
        symbol = self.target.partition("::")[2]
        if not SYMBOL.fullmatch(symbol) or len({its.get("Target") for its in self.groups}) > 1:
            yield f"the trailers of commit {self.commit.sha[:12]} do not name one text"
            return
        try:
            replaced = self._replaced()
            added, removed = self._changed(replaced)
            words = self._words(replaced)
            unknown = {line: tuple(refuse_words(line, words)) for line in added}
        except UnprovenError as reason:
            yield str(reason)
            return
        standing = docstring_bullets(replaced.after, self.target)
        yield from self._refuse_room(replaced, added, removed, standing)
        if not self._is_named(added, standing, words.tool):
            yield "its lines are not those of the proposals that its commit names; promote it again"
        for line in added:
            reasons = filter(None, (refuse_line(line, private=False), *unknown[line]))
            yield from (f"{printable(line)}: {reason}" for reason in reasons)

    def _refuse_room(
        self, file: Replaced, added: Sequence[str], removed: Sequence[str], standing: Iterable[str]
    ) -> Iterator[str]:
        """Why a description may not take these lines, or not give up those."""
        fits, subjects = self.settings.docstring.fits, Counter(map(_subject, standing))
        ours = promoted_lines(self.repository, self.old, path=file.path, target=self.target, is_form=is_form)
        ours = ours & docstring_bullets(file.before, self.target).keys()
        if not fits([*ours.difference(removed), *added]):
            yield "the description has no room for its lines (docstring: max_lines)"
        if any(_subject(line) and subjects[_subject(line)] > 1 for line in added):
            yield "another line on the same subject stays; promote it again, which replaces that"
        for line in removed:
            if line not in ours:
                yield f"{printable(line)} is removed, but no promotion added it; put it back"
            elif _subject(line) not in map(_subject, added) and fits([*ours, *added]):
                yield f"{printable(line)} is removed, but the description has room for it; put it back"

    def is_rewording_of(self, own: "Proof") -> bool:
        """Whether a proved promotion's lines, and nothing else, have other words, as by a suggestion."""
        if any(own.refuse()):
            return False
        try:
            (added, removed), (written, replaced) = (its._changed(its._replaced()) for its in (self, own))
        except UnprovenError:
            return False
        return len(added) == len(written) and sorted(removed) == sorted(replaced)

    def _replaced(self) -> Replaced:
        """The target's file; `UnprovenError` unless it alone changes, and of it only the text."""
        file = self.target.partition("::")[0]
        replaced = self.repository.replaced_file(self.old, self.new)
        if replaced is None or replaced.path != self.project + file or not file.endswith(SUFFIXES):
            raise UnprovenError(f"it changes more than the text of {printable(file)}; put the rest elsewhere")
        return replaced

    def _changed(self, file: Replaced) -> tuple[list[str], list[str]]:
        return changed_lines(
            file.before,
            file.after,
            self.target,
            sections=tuple(dict.fromkeys(SECTIONS[group["Phase"]] for group in self.groups)),
            style=self.settings.docstring.style,
        )

    def _is_named(self, added: Sequence[str], standing: Iterable[str], tool: str) -> bool:
        """Whether each proposal has its line, or one the lines of a sequence, and none is left over."""
        values = [value for line in added if (value := parse_line(line)) is not None]
        if len(self.groups) == 1 and len(values) == len(added) == len({bool(its.calls) for its in values}):
            there = [value for line in standing if (value := parse_line(line)) is not None]
            return self.groups[0]["Candidate-Key"] in _sequence_keys(values, there)
        own = list[str]()  # of coreloop's forms alone: any text has a key
        for group in self.groups:
            key, section = group["Candidate-Key"], SECTIONS[group["Phase"]]
            own += [its for its in added if is_form(its) and key in keys_of(tool, its, section)][:1]
        return len(own) == len(self.groups) and sorted(added) == sorted(own)

    def _words(self, file: Replaced) -> Words:
        """What the base declares of the words about the target's tool."""
        target, symbol = self.target.partition("[")[0], self.target.partition("::")[2]
        tools = [name for name, its in self.settings.tools.items() if its.target == target]
        own = target.partition("::")[2]
        tools = tools or [own.rpartition(".")[2], own]
        subject = self.commit.message.partition("\n")[0]
        tool = next((name for name in tools if f" docs({name}): " in subject), tools[0])
        return Words(self.repository, self.base, self.settings, file.path, tool, symbol)


def _subject(line: str) -> tuple[str, ...]:
    """What a line is about, so that there is one alone; nothing for those of a sequence and of people."""
    advice = parse_advice(line)
    return () if advice is None else advice.subject()


def _sequence_keys(added: Sequence[SequenceLine], standing: Sequence[SequenceLine]) -> Iterator[str]:
    """The keys that a Guide may have: of its category with its steps, or with its calls as written.

    One of its two lines may stand there already, of another promotion.
    """
    labels = {its.category for its in added} - {""} or {its.category for its in standing} - {""}
    for its in [its for its in added if its.calls] or standing:
        steps = join_steps(step(call.name, *call.chosen()) for call in its.calls)
        texts = (steps, str(replace(its, language="en")))
        yield from (statement_key(label, text, SECTIONS["R"]) for label in labels for text in texts)
