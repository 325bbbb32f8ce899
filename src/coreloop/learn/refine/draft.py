"""Why a counterexample gets no docstring text of its own: it is evidence for the statements about its tool.

A failure has a cause that distinguishes it from the tool's other calls. A text about a single shape of call,
or about a sequence of successful calls, would blame a coincidence.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from coreloop.learn.proposals.counterexamples import Counterexample, counterexample_key
from coreloop.learn.proposals.step import Step
from coreloop.learn.proposals.vocabulary import Vocabulary


def draft_counterexample(
    example: Counterexample,
    words: Vocabulary,
    *,
    explained: Collection[str] = (),
    settled: Collection[str] = (),
) -> Counterexample:
    """Give a counterexample the reason why it has no text of its own, and a key that may be published.

    Parameters
    ----------
    example : Counterexample
        The result of the search.
    words : Vocabulary
        Definitions of the tools.
    explained : collection of str
        Tools with a statement that explains when they fail.
    settled : collection of str
        Tools whose statement is promoted, on a branch or rejected.
    """
    steps = example.steps or (example.call,)
    return replace(
        example, key=_public_key(example, words, steps), refused=_reason(example, explained, settled)
    )


def _reason(example: Counterexample, explained: Collection[str], settled: Collection[str]) -> str:
    if example.kind == "sequence":
        return "all calls of the sequence succeeded; records do not show which of them to blame"
    if example.tool in explained:
        return "a statement says when this tool fails"
    if example.tool in settled:
        return "a statement says when this tool fails: it is promoted, open or rejected already"
    if not example.n_without.n_calls and example.n_failures == example.n_calls:
        return "every call failed: fix the tool or remove it"
    return "nothing distinguishes its failed calls from the others yet"


def _public_key(example: Counterexample, words: Vocabulary, steps: Sequence[Step]) -> str:
    """The key; with undeclared values, the key of the calls as written, since a hash could be guessed."""
    if words.tool(example.tool) is None or words.declares_all(steps):
        return example.key
    calls = " -> ".join(str(words.call(step)) for step in steps)
    return counterexample_key(example.kind, calls, example.error_class or "", example.error_template or "")
