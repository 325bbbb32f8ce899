"""The figures of proposed lines as a commit's trailers say them: for promotion, and for the guard."""

from coreloop.proposals.grammar import CaveatEvidence, Fails, GuideEvidence


def guide_figures(evidence: GuideEvidence) -> dict[str, str]:
    """Evidence, Observed and Unique-Questions of a Guide."""
    return {
        "Evidence": f"{evidence.succeeded} of {evidence.requests} requests, lower bound {evidence.low}",
        "Observed": str(evidence.requests),
        "Unique-Questions": str(evidence.questions),
    }


def caveat_figures(fails: Fails, evidence: CaveatEvidence) -> dict[str, str]:
    """Evidence, Observed and Unique-Questions of a caveat."""
    share = f"{fails.counts.failed} of {fails.counts.of} {fails.counts.unit}"
    return {
        "Evidence": f"{share} failed, lower bound {evidence.low}",
        "Observed": str(fails.counts.of),
        "Unique-Questions": "not-applicable",
    }
