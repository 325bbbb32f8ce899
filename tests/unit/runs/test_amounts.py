"""Amounts as people read them."""

from coreloop.runs.amounts import dollars
from rows import each_row


@each_row(
    ("microusd", "text"),
    [(0, "$0.00"), (1, "$0.000001"), (4_200, "$0.004200"), (10_000, "$0.01"), (1_234_500_000, "$1,234.50")],
)
def test_a_fraction_of_a_cent_is_not_zero(microusd: int, text: str):
    assert dollars(microusd) == text
