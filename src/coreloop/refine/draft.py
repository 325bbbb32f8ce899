"""The text of a counterexample: a caveat built from closed vocabularies, or the reason why there is none.

Of an error only its class is named; its text stays on this machine.
"""

from collections.abc import Sequence
from dataclasses import replace

from coreloop.proposals.counterexamples import SECTION, Counterexample, counterexample_key
from coreloop.proposals.evidence import caveat_evidence, failures
from coreloop.proposals.grammar import Fails, FailsApart, FailsCall, FailsSequence
from coreloop.proposals.lines import refuse_line
from coreloop.proposals.step import Step
from coreloop.proposals.vocabulary import Vocabulary


def draft_counterexample(one: Counterexample, words: Vocabulary) -> Counterexample:
    """Give a counterexample its caveat and target.

    Parameters
    ----------
    one : Counterexample
        As found.
    words : Vocabulary
        Definitions of the tools concerned.

    Returns
    -------
    Counterexample
        With ``suggested_append``, or with ``refused``: the reason why no text may be proposed. Its key is one
        that may be published.
    """
    steps = one.steps or (one.call,)
    lines = (str(_fails(one, words)), str(caveat_evidence(one)))
    one = replace(one, key=_public_key(one, words, steps))
    refused = words.refuse(steps, target=one.tool) or next(filter(None, map(refuse_line, lines)), None)
    if refused is not None:
        return replace(one, refused=refused)
    return replace(one, suggested_append=words.append(one.tool, SECTION, lines))


def _public_key(one: Counterexample, words: Vocabulary, steps: Sequence[Step]) -> str:
    """The key, of the calls as they are written where a value is nobody's: its hash could be guessed."""
    if words.tool(one.tool) is None or words.declares_all(steps):
        return one.key
    calls = " -> ".join(str(words.call(step)) for step in steps)
    return counterexample_key(one.kind, calls, one.error_class or "", one.error_template or "")


def _fails(one: Counterexample, words: Vocabulary) -> Fails:
    if one.kind == "sequence":
        calls = tuple(words.call(step, with_arguments=False) for step in one.steps)
        return FailsSequence(calls, failures(one))
    counts = failures(one)
    otherwise = (one.n_without.n_failures, one.n_without.n_calls)
    lacking, extra = _apart(one, words)
    if lacking or extra:
        return FailsApart(bool(lacking), lacking or extra, counts, otherwise)
    return FailsCall(words.call(one.call), counts, otherwise if one.n_without.n_calls else None)


def _apart(one: Counterexample, words: Vocabulary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Arguments of the signature that all other calls have and these lack, or these have and no other."""
    without = one.n_without
    if not without.n_calls or without.n_failures == without.n_calls:
        return (), ()
    named = words.parameters(one.tool)
    lacking = (name for name in named if name in without.arg_keys and name not in one.arg_keys)
    extra = (name for name in named if name in one.arg_keys and name not in without.any_arg_keys)
    return tuple(lacking), tuple(extra)
