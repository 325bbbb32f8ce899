"""The text of a counterexample: a caveat built from closed vocabularies, or the reason why there is none.

Of an error only its class is named; its text stays on this machine.
"""

from collections.abc import Sequence
from dataclasses import replace

from coreloop.proposals.night import SuggestedAppend
from coreloop.proposals.vocabulary import Step, Vocabulary
from coreloop.refine.find import SECTION, Counterexample, counterexample_key
from coreloop.text import refuse_line


def draft(one: Counterexample, words: Vocabulary) -> Counterexample:
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
    steps = one.steps or (Step(one.tool, one.selectors, one.arg_keys),)
    lines = (_caveat(one, words), _evidence(one))
    one = replace(one, key=_public_key(one, words, steps))
    refused = words.refuse(steps, target=one.tool) or next(filter(None, map(refuse_line, lines)), None)
    if refused is not None:
        return replace(one, refused=refused)
    target = words.tool(one.tool)
    file, symbol = (target.file, target.qualname) if target is not None else (None, None)
    return replace(one, suggested_append=SuggestedAppend(file, symbol, SECTION, "\n".join(lines)))


def _public_key(one: Counterexample, words: Vocabulary, steps: Sequence[Step]) -> str:
    """The key, of the calls as they are written where a value is nobody's: its hash could be guessed."""
    if words.tool(one.tool) is None or words.declares_all(steps):
        return one.key
    calls = " -> ".join(words.call(step) for step in steps)
    return counterexample_key(one.kind, calls, one.error_class or "", one.error_template or "")


def _caveat(one: Counterexample, words: Vocabulary) -> str:
    if one.kind == "sequence":
        steps = " -> ".join(words.call(step, with_arguments=False) for step in one.steps)
        succeeded = one.n_calls - one.n_failures
        return f"- Fails: {steps}: {succeeded} of {one.n_calls} requests succeeded."
    lacking, extra = _apart(one, words)
    failed = f"{one.n_failures} of {one.n_calls} calls failed ({one.error_class})"
    without = one.n_without
    otherwise = f"{without.n_failures} of {without.n_calls}"
    if lacking:
        return f"- Fails: called without {_listed(lacking)}: {failed}; with {_them(lacking)} {otherwise}."
    if extra:
        return f"- Fails: called with {_listed(extra)}: {failed}; without {_them(extra)} {otherwise}."
    call = words.call(Step(one.tool, one.selectors, one.arg_keys))
    return f"- Fails: {call}: {failed}" + (f"; called otherwise {otherwise}." if without.n_calls else ".")


def _apart(one: Counterexample, words: Vocabulary) -> tuple[list[str], list[str]]:
    """Arguments of the signature that all other calls have and these lack, or these have and no other."""
    without = one.n_without
    if not without.n_calls or without.n_failures == without.n_calls:
        return [], []
    named = words.parameters(one.tool)
    lacking = [name for name in named if name in without.arg_keys and name not in one.arg_keys]
    return lacking, [name for name in named if name in one.arg_keys and name not in without.any_arg_keys]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _evidence(one: Counterexample) -> str:
    return (
        f"- Evidence: {one.first_seen:%Y-%m-%d} to {one.last_seen:%Y-%m-%d} "
        f"(95 % lower bound of the failing share {one.harm_low:.2f})."
    )
