"""The text of a candidate: docstring lines built from closed vocabularies, or the reason why there are none.

A question, a word of a question, an argument's value or an error's text never gets here: the inputs are tool
names, argument names of the signature, selector values that the source or coreloop.yaml declares, category
labels with the keywords of coreloop.yaml, counts and dates.
"""

from dataclasses import replace

from coreloop.project.settings import Settings
from coreloop.proposals.candidates import SECTION, Candidate, candidate_key
from coreloop.proposals.evidence import guide_evidence
from coreloop.proposals.grammar import Calls, When
from coreloop.proposals.lines import MAX_LINE_CHARS, refuse_line
from coreloop.proposals.vocabulary import Vocabulary
from coreloop.records import UNSPECIFIED, is_category


def draft_candidate(candidate: Candidate, words: Vocabulary) -> Candidate:
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
    return replace(candidate, suggested_append=words.append(candidate.engine, SECTION, lines))


def guide_lines(candidate: Candidate, words: Vocabulary) -> tuple[str, str, str]:
    """The three bullets of a Guide: when, which calls, on what evidence."""
    when = _when(candidate.cat_hash, words.settings)
    return str(when), str(_calls(candidate, words)), str(guide_evidence(candidate))


def _public_key(candidate: Candidate, words: Vocabulary, *, call: str) -> str:
    """The key, of the text where a value is nobody's: once published, a hash over it could be guessed."""
    if words.tool(candidate.engine) is None or words.declares_all(candidate.tool_pattern):
        return candidate.key
    return candidate_key(candidate.cat_hash, call)


def _refuse(candidate: Candidate, lines: tuple[str, ...]) -> str | None:
    if not is_category(candidate.cat_hash):
        return "the category is no label"
    reasons = ((line.split(":", 1)[0], refuse_line(line)) for line in lines)
    return next((f"{bullet} line: {reason}" for bullet, reason in reasons if reason), None)


def _when(category: str, settings: Settings) -> When:
    """With as many keywords as a line has room for."""
    if category == UNSPECIFIED:
        return When("")
    keywords = tuple(dict.fromkeys(settings.keywords(category)))
    rows = (When(category, keywords[:count]) for count in range(len(keywords), -1, -1))
    return next((row for row in rows if len(str(row)) <= MAX_LINE_CHARS), When(category))


def _calls(candidate: Candidate, words: Vocabulary) -> Calls:
    """With the names of all arguments where a line has room for them, else with the selectors alone."""
    whole, short = (
        Calls(tuple(words.call(step, with_arguments=named) for step in candidate.tool_pattern))
        for named in (True, False)
    )
    return whole if len(str(whole)) <= MAX_LINE_CHARS else short
