"""Other wordings of a line, and the contexts on which one is chosen."""

from collections.abc import Sequence
from hashlib import sha256

from coreloop.learn.proposals.advice import Advice, condition, fails, in_language, parse_advice
from coreloop.promote.measure.contexts import CallContext


def wordings_of(line: str) -> tuple[str, ...]:
    """Up to three lines that name the same failure.

    Parameters
    ----------
    line : str
        A line of one of the known forms.

    Returns
    -------
    tuple of str
        The line; what fails instead of what works, if there is such a form; the line in the other language.
    """
    own = parse_advice(line)
    if own is None:
        return (line,)
    failing, other = _failing(own), in_language(own, "ko" if own.language == "en" else "en")
    return tuple(dict.fromkeys(str(wording) for wording in (own, failing, other) if wording is not None))


def _failing(own: Advice) -> Advice | None:
    """``limit over 20 fails`` for ``limit: at most 20``; None for forms without such a condition."""
    slots = dict(own.slots)
    names = slots.get("arguments", ())
    forms = {"always_pass": "without", "leave_out": "with", "never_empty": "empty"}
    if own.form == "at_most" and not own.more:
        over = condition("over", argument=slots["argument"], number=slots["number"])
        return in_language(fails((over,), ""), own.language)
    if own.form not in forms or len(names) != 1 or own.more:
        return None
    return in_language(fails((condition(forms[own.form], arguments=names),), ""), own.language)


def halves(contexts: Sequence[CallContext]) -> tuple[tuple[CallContext, ...], tuple[CallContext, ...]]:
    """Two halves of contexts; no case stands in both."""
    cases = sorted({context.case for context in contexts}, key=_shuffled)
    first = set(cases[::2])
    return (
        tuple(context for context in contexts if context.case in first),
        tuple(context for context in contexts if context.case not in first),
    )


def _shuffled(case: str) -> str:
    return sha256(case.encode("utf-8", "replace")).hexdigest()
