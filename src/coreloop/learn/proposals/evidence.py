"""The figures of an entry as values of a line: for the drafts, and for promotion, which checks the file."""

from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.proposals.sequence_lines import GuideEvidence


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
