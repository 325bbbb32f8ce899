"""What is said of a counterexample: it is evidence, and the text for a docstring is a statement's.

Calls fail for a reason that other calls of the tool do not have; a text on one way of calling, or on a
sequence of calls that all were ok, would blame what only happened to be there.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from coreloop.proposals.counterexamples import Counterexample, counterexample_key
from coreloop.proposals.step import Step
from coreloop.proposals.vocabulary import Vocabulary


def draft_counterexample(
    one: Counterexample, words: Vocabulary, *, explained: Collection[str] = ()
) -> Counterexample:
    """Give a counterexample the reason why it has no text of its own, and a key that may be published.

    Parameters
    ----------
    one : Counterexample
        As found.
    words : Vocabulary
        Definitions of the tools concerned.
    explained : collection of str
        Tools of which a statement says when they fail.
    """
    steps = one.steps or (one.call,)
    return replace(one, key=_public_key(one, words, steps), refused=_reason(one, explained))


def _reason(one: Counterexample, explained: Collection[str]) -> str:
    if one.kind == "sequence":
        return "the calls of a sequence were ok: which of them to blame, records do not tell"
    if one.tool in explained:
        return "a statement says when this tool fails"
    if not one.n_without.n_calls and one.n_failures == one.n_calls:
        return "every call failed: mend the tool, or take it away"
    return "nothing sets its failed calls apart from the others yet"


def _public_key(one: Counterexample, words: Vocabulary, steps: Sequence[Step]) -> str:
    """The key, of the calls as they are written where a value is nobody's: its hash could be guessed."""
    if words.tool(one.tool) is None or words.declares_all(steps):
        return one.key
    calls = " -> ".join(str(words.call(step)) for step in steps)
    return counterexample_key(one.kind, calls, one.error_class or "", one.error_template or "")
