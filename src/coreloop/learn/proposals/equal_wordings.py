"""The wordings of a line, which name the same failure and stand for the same proposal."""

from dataclasses import replace
from typing import Final

from coreloop.base.git.trailers import SECTIONS
from coreloop.learn.proposals.statement_lines import Advice, in_language, parse_advice, statement_key

_REVERSE: Final = {
    "always_pass": "without_fails",
    "leave_out": "with_fails",
    "never_empty": "empty_fails",
    "at_most": "over_fails",
}
"""By form, the one that says under which condition calls fail that do not follow it."""
_WORKING: Final = {failing: working for working, failing in _REVERSE.items()}


def working(line: Advice) -> Advice:
    """The form that says what works, of a line that says what fails; any other line as it is."""
    return replace(line, form=_WORKING.get(line.form, line.form))


def wordings_of(line: str) -> tuple[str, ...]:
    """Up to three lines that name the same failure; each is among the wordings of the others' wordings.

    Parameters
    ----------
    line : str
        A line of one of the known forms.

    Returns
    -------
    tuple of str
        The line; what fails instead of what works, or the reverse, if there is such a form; the line in the
        other language.
    """
    own = parse_advice(line)
    if own is None:
        return (line,)
    reverse, other = _reverse(own), in_language(own, "ko" if own.language == "en" else "en")
    return tuple(dict.fromkeys(str(wording) for wording in (own, reverse, other) if wording is not None))


def keys_of(tool: str, line: str, *sections: str) -> frozenset[str]:
    """The keys of the proposals that a line may stand for: of itself, and of its other wordings.

    Parameters
    ----------
    tool, line : str
        The tool that the line is about.
    sections : str
        Of the proposal; any, by default.
    """
    texts, named = wordings_of(line), sections or tuple(SECTIONS.values())
    return frozenset(statement_key(tool, text, section) for text in texts for section in named)


def _reverse(own: Advice) -> Advice | None:
    """``limit over 20 fails`` for ``limit: at most 20``, and the reverse; None for other forms."""
    form = {**_REVERSE, **_WORKING}.get(own.form)
    if form is None or own.more or len(own.items("arguments", "argument")) != 1:
        return None
    return replace(own, form=form)
