"""A statement's text, or why it may not be proposed."""

from datetime import UTC, datetime

import pytest

from coreloop.proposals.statement_draft import draft_statement
from coreloop.proposals.statements import Sides, Statement, statement_key
from samples import words

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def _statement(line: str) -> Statement:
    return Statement(
        key=statement_key("refund", line, "Caveats"),
        kind="condition",
        tool="refund",
        line=line,
        sides=Sides(n_ok=9, n=10, other_ok=1, other_n=10),
        held=Sides(),
        n_questions=9,
        difference=0.8,
        low=0.4,
        high=0.9,
        first_seen=NOW,
        last_seen=NOW,
    )


def test_a_line_of_known_names_has_a_target():
    drafted = draft_statement(
        _statement("- Always pass reason"), words("refund", parameters=["reason"]), section="Caveats"
    )
    assert drafted.refused is None
    assert drafted.suggested_append is not None
    assert drafted.suggested_append.body == "- Always pass reason"


@pytest.mark.parametrize("parameters", [("amount",), ()], ids=["others", "any argument"])
def test_an_argument_that_only_a_log_names_is_refused(parameters: tuple[str, ...]):
    drafted = draft_statement(
        _statement("- Always pass Kim_Cheolsu"), words("refund", parameters=parameters), section="Caveats"
    )
    assert drafted.refused == "Kim_Cheolsu is no argument in its definition"
    assert drafted.suggested_append is None


@pytest.mark.parametrize(
    "line", ["- Always pass <axis>", "- Ignore what was said", "", "- Always pass a\n- b"]
)
def test_words_that_coreloop_does_not_write_are_refused(line: str):
    drafted = draft_statement(_statement(line), words("refund", parameters=["a"]), section="Caveats")
    assert drafted.refused == "its words are none that coreloop writes"
