"""The figures of an entry as values of a line: for the drafts, and for promotion, which checks the file."""

from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.proposals.counterexamples import Counterexample
from coreloop.learn.proposals.sequence_lines import CaveatEvidence, Failures, GuideEvidence


def guide_evidence(candidate: Candidate) -> GuideEvidence:
    """The evidence line of a Guide."""
    return GuideEvidence(
        succeeded=candidate.n_succeeded,
        requests=candidate.n_observed,
        questions=candidate.n_unique_questions,
        since=f"{candidate.first_seen:%Y-%m-%d}",
        until=f"{candidate.last_seen:%Y-%m-%d}",
        low=f"{candidate.success_low:.2f}",
        base=f"{candidate.base_rate:.2f}",
    )


def failures(counterexample: Counterexample) -> Failures:
    """The counts of a caveat's line."""
    error_class = counterexample.error_class if counterexample.kind == "call" else None
    return Failures(counterexample.n_failures, counterexample.n_calls, counterexample.unit, error_class)


def caveat_evidence(counterexample: Counterexample) -> CaveatEvidence:
    """The evidence line of a caveat."""
    return CaveatEvidence(
        since=f"{counterexample.first_seen:%Y-%m-%d}",
        until=f"{counterexample.last_seen:%Y-%m-%d}",
        low=f"{counterexample.harm_low:.2f}",
    )
