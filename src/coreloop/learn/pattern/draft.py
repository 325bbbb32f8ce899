"""The text of a candidate: docstring lines built from closed vocabularies, or the reason to refuse them.

The inputs are tool names, argument names of the signature, selector values that the source or coreloop.yaml
declares, category labels with the keywords of coreloop.yaml, counts and dates; never questions or words of
them, undeclared argument values or error texts.
"""

from dataclasses import replace
from typing import Final

from coreloop.base.records import UNSPECIFIED, is_category
from coreloop.learn.line import AdvisedCalls, Language, When, statement_key
from coreloop.learn.proposals.allowed_lines import MAX_LINE_CHARS, refuse_line
from coreloop.learn.proposals.entry import GUIDE, MAX_Q, Candidate, SuggestedAppend, q_text
from coreloop.learn.proposals.vocabulary import Vocabulary

_WEAK: Final = "weak: "


def draft_candidate(candidate: Candidate, words: Vocabulary) -> Candidate:
    """Give a candidate its proposed text and target.

    Parameters
    ----------
    candidate : Candidate
        The result of the search, with its q-value.
    words : Vocabulary
        Definitions of the pattern's tools; declared axes.

    Returns
    -------
    Candidate
        With ``suggested_append``, or with ``refused``, the reason why no text may be proposed. Its key may be
        published.
    """
    lines = guide_lines(candidate, words)
    call = str(_calls(candidate, words, "en"))  # a key is the same in both languages
    candidate = replace(candidate, key=_public_key(candidate, words, call=call))
    refused = (
        _weak(candidate)
        or words.refuse(candidate.tool_pattern, target=candidate.engine)
        or _refuse(candidate, lines)
    )
    if refused is not None:
        return replace(candidate, refused=refused)
    return replace(candidate, suggested_append=SuggestedAppend.of(words, candidate.engine, GUIDE, lines))


def guide_lines(candidate: Candidate, words: Vocabulary) -> tuple[str, str]:
    """The two bullets of a Guide: when to use the sequence, and its calls."""
    category = "" if candidate.cat_hash == UNSPECIFIED else candidate.cat_hash
    language = words.settings.language
    return str(When(category, language=language)), str(_calls(candidate, words, language))


def is_weak(candidate: Candidate) -> bool:
    """Whether a candidate was refused because its sequence is not better than the rest of its category."""
    return candidate.refused is not None and candidate.refused.startswith(_WEAK)


def _weak(candidate: Candidate) -> str | None:
    """Why a sequence is not better than the rest of its category, or None if it is significantly better."""
    n, rest_ok, rest_n = candidate.n_observed, candidate.rest_ok, candidate.rest_n
    is_better = rest_n > 0 and candidate.n_succeeded * rest_n > rest_ok * n
    if is_better and candidate.q_value is not None and candidate.q_value <= MAX_Q:
        return None
    if not rest_n:
        return "weak: its category has no other requests to compare it with"
    significance = "" if candidate.q_value is None else f" ({q_text(candidate.q_value)})"
    return (
        f"weak: {candidate.n_succeeded} of {n} succeeded, {rest_ok} of {rest_n} of the rest "
        f"of its category{significance}"
    )


def _public_key(candidate: Candidate, words: Vocabulary, *, call: str) -> str:
    """The key; with undeclared values, the key of the text, since a hash of the values could be guessed."""
    if words.tool(candidate.engine) is None or words.declares_all(candidate.tool_pattern):
        return candidate.key
    return statement_key(candidate.cat_hash, call, GUIDE)


def _refuse(candidate: Candidate, lines: tuple[str, ...]) -> str | None:
    if not is_category(candidate.cat_hash):
        return "the category is not a label"
    reasons = ((line.split(":", 1)[0], refuse_line(line)) for line in lines)
    return next(
        (f"{bullet} line: {reason}" for bullet, reason in reasons if reason),
        None,
    )


def _calls(candidate: Candidate, words: Vocabulary, language: Language) -> AdvisedCalls:
    """The calls with all argument names if the line has room for them, else only with the selectors."""
    full, short = (
        AdvisedCalls(
            tuple(words.call(step, with_arguments=named) for step in candidate.tool_pattern), language
        )
        for named in (True, False)
    )
    return full if len(str(full)) <= MAX_LINE_CHARS else short
