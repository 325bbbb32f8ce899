"""Whether a sequence does better than the rest of its category, with one success rate for each case."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

import polars as pl

from coreloop.base.records import UNSPECIFIED
from coreloop.learn.mine.window import IS_COUNTED, IS_SUCCESS, Window, draw_number
from coreloop.learn.proposals.candidates import Candidate
from coreloop.learn.statements.cases import RequestKeys, case_numbers
from coreloop.learn.statements.compare_sides import rank_test

_MAX_REQUESTS: Final = 10_000
"""Of the candidates' categories; of more, a fixed draw is compared."""
_MIN_CASES: Final = 2  # the least that the playbook's relaxed gate lets through
_Row = tuple[str, str, int, bool]
"""Group, sequence, case, whether it succeeded."""
_Tally = dict[int, tuple[int, int]]
"""Requests and successes of each case."""


def p_values(window: Window, candidates: Sequence[Candidate], *, by_first_tool: bool) -> list[float]:
    """Test each candidate against the rest of its category (Mann–Whitney on the cases' success rates).

    Parameters
    ----------
    window : Window
        Of the candidates.
    candidates : sequence of Candidate
        As found.
    by_first_tool : bool
        Whether those without a category are compared with sequences that begin with the same tool.

    Returns
    -------
    list of float
        1.0 with fewer than two cases on a side: the least that the playbook's relaxed gate lets through.
    """
    categories = {candidate.cat_hash for candidate in candidates}
    by_group: defaultdict[str, _Tally] = defaultdict(dict)
    by_sequence: defaultdict[tuple[str, str], _Tally] = defaultdict(dict)
    for group, sequence, case, succeeded in _rows(window, categories, by_first_tool=by_first_tool):
        for tally in (by_group[group], by_sequence[group, sequence]):
            n, n_ok = tally.get(case, (0, 0))
            tally[case] = (n + 1, n_ok + succeeded)
    rates = {group: Counter(n_ok / n for n, n_ok in tally.values()) for group, tally in by_group.items()}
    p_values = []
    for candidate in candidates:
        group = _group(candidate.cat_hash, candidate.tool_pattern[0].name, by_first_tool=by_first_tool)
        own = by_sequence[group, candidate.seq_hash]
        p_values.append(_p_value(own, _without(own, by_group[group], rates.get(group, Counter()))))
    return p_values


def _p_value(own: _Tally, rest: Counter[float]) -> float:
    rates = Counter(n_ok / n for n, n_ok in own.values())
    return rank_test(rates, rest) if min(rates.total(), rest.total()) >= _MIN_CASES else 1.0


def _without(own: _Tally, group: _Tally, rates: Counter[float]) -> Counter[float]:
    """The rates of a group's cases without the requests of one sequence; only its cases are counted anew."""
    rest = rates.copy()
    for case, (own_n, own_ok) in own.items():
        n, n_ok = group[case]
        rest[n_ok / n] -= 1
        if n > own_n:
            rest[(n_ok - own_ok) / (n - own_n)] += 1
    return rest


def _group(category: str, first_tool: str, *, by_first_tool: bool) -> str:
    return f"{category} {first_tool}" if by_first_tool and category == UNSPECIFIED else category


def _rows(window: Window, categories: set[str], *, by_first_tool: bool) -> list[_Row]:
    of_categories = pl.col("category").is_in(sorted(categories))
    columns = ("category", "sequence", "session", "case", "template")
    drawn = window.keep(
        lambda rows: rows.filter(IS_COUNTED, of_categories).select(
            *columns, ok=IS_SUCCESS, number=draw_number()
        ),
        lambda rows: rows.bottom_k(_MAX_REQUESTS, by="number"),
    )
    rows = drawn.select("category", "sequence", "ok", "session", "case", "template").rows()
    keys = [
        RequestKeys(session, tuple(case or ()), template, sequence)
        for _, sequence, _, session, case, template in rows
    ]
    texts = window.texts_of("sequence", {row[1] for row in rows}) if by_first_tool else {}
    return [
        (
            _group(category, texts.get(sequence, "").partition("(")[0], by_first_tool=by_first_tool),
            f"seq:{sequence:016x}",
            number,
            succeeded,
        )
        for (category, sequence, succeeded, *_), number in zip(rows, case_numbers(keys)[0], strict=True)
    ]
