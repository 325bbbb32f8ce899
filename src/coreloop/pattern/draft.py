"""The text of a candidate: docstring lines built from closed vocabularies, or the reason why there are none.

A question, a word of a question, an argument's value or an error's text never gets here: the inputs are tool
names, argument names of the signature, selector values that the source or coreloop.yaml declares, category
labels with the keywords of coreloop.yaml, counts and dates.
"""

from dataclasses import replace

from coreloop.pattern.find import SECTION, Candidate, candidate_key
from coreloop.project.settings import Settings
from coreloop.proposals.night import SuggestedAppend
from coreloop.proposals.vocabulary import Vocabulary
from coreloop.records import UNSPECIFIED, is_category
from coreloop.text import MAX_LINE_CHARS, refuse_line


def draft(candidate: Candidate, words: Vocabulary) -> Candidate:
    """Give a candidate its proposed text and target.

    Parameters
    ----------
    candidate : Candidate
        As found.
    words : Vocabulary
        Definitions of the pattern's tools; keywords and declared axes.

    Returns
    -------
    Candidate
        With ``suggested_append``, or with ``refused``: the reason why no text may be proposed. Its key is one
        that may be published.
    """
    lines = guide_lines(candidate, words)
    candidate = replace(candidate, key=_public_key(candidate, words, call=lines[1]))
    refused = words.refuse(candidate.tool_pattern, target=candidate.engine) or _refuse(candidate, lines)
    if refused is not None:
        return replace(candidate, refused=refused)
    target = words.tool(candidate.engine)
    file, symbol = (target.file, target.qualname) if target is not None else (None, None)
    return replace(candidate, suggested_append=SuggestedAppend(file, symbol, SECTION, "\n".join(lines)))


def guide_lines(candidate: Candidate, words: Vocabulary) -> tuple[str, str, str]:
    """The three bullets of a Guide: when, which calls, on what evidence."""
    return _when(candidate.cat_hash, words.settings), _call(candidate, words), _evidence(candidate)


def _public_key(candidate: Candidate, words: Vocabulary, *, call: str) -> str:
    """The key, of the text where a value is nobody's: once published, a hash over it could be guessed."""
    if words.tool(candidate.engine) is None or words.declares_all(candidate.tool_pattern):
        return candidate.key
    return candidate_key(candidate.cat_hash, call, SECTION)


def _refuse(candidate: Candidate, lines: tuple[str, ...]) -> str | None:
    if not is_category(candidate.cat_hash):
        return "the category is no label"
    reasons = ((line.split(":", 1)[0], refuse_line(line)) for line in lines)
    return next((f"{bullet} line: {reason}" for bullet, reason in reasons if reason), None)


def _when(category: str, settings: Settings) -> str:
    if category == UNSPECIFIED:
        return "- When: questions of no category."
    keywords = list(dict.fromkeys(settings.keywords(category)))
    while keywords:
        line = f"- When: questions on {', '.join(keywords)} (category {category})."
        if len(line) <= MAX_LINE_CHARS:
            return line
        keywords.pop()
    return f"- When: questions of category {category}."


def _call(candidate: Candidate, words: Vocabulary) -> str:
    line = ""
    for with_arguments in (True, False):
        steps = (words.call(step, with_arguments=with_arguments) for step in candidate.tool_pattern)
        line = f"- Call: {' -> '.join(steps)}."
        if len(line) <= MAX_LINE_CHARS:
            break
    return line


def _evidence(candidate: Candidate) -> str:
    successes = round(candidate.success_rate * candidate.n_observed)
    return (
        f"- Evidence: {successes} of {candidate.n_observed} requests, "
        f"{candidate.n_unique_questions} distinct questions, "
        f"{candidate.first_seen:%Y-%m-%d} to {candidate.last_seen:%Y-%m-%d} "
        f"(95 % lower bound {candidate.success_low:.2f}, category {candidate.base_rate:.2f})."
    )
