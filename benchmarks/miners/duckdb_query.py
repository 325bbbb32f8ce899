"""The same findings with DuckDB's ``read_ndjson`` and two threads."""

import json
import sys
from pathlib import Path
from typing import Any

import duckdb
from findings import GATE, MAX_EXAMPLES, MAX_QUESTIONS, Failing, Pattern, Shape, from_groups

from coreloop.base import failures

COLUMNS = """{
    ts: 'TIMESTAMPTZ', category_hash: 'VARCHAR', question: 'VARCHAR', question_hash: 'VARCHAR',
    session_hash: 'VARCHAR', provider: 'VARCHAR', chunk_len: 'BIGINT', error: 'VARCHAR', violation: 'VARCHAR',
    override_calls: 'STRUCT(tool VARCHAR, succeeded BOOLEAN)[]', judgment: 'STRUCT(verdict VARCHAR)',
    tool_calls: 'STRUCT(name VARCHAR, args JSON, ok BOOLEAN, error VARCHAR, extreme_flags VARCHAR[],
        duration_ms DOUBLE)[]'}"""


def _class(text: str) -> str:
    """Return `coreloop.base.failures.error_class` as SQL, for a lower-case string."""
    branches = []
    for name, words in failures._WORDS:
        patterns = [pattern.pattern for _, pattern in failures._PATTERNS.get(name, ())]
        branches.append(f"WHEN regexp_matches({text}, '{'|'.join([*words, *patterns])}') THEN '{name}'")
    return f"CASE {' '.join(branches)} ELSE 'other' END"


TEMPLATE = r"""regexp_replace(regexp_replace(regexp_replace(regexp_replace(nfc_normalize(error),
    '\S*@\S*|\w+:/{2}\S*', '<address>', 'g'), '\S*[\\/]\S*', '<path>', 'g'),
    '''[^'']*(''|$)|"[^"]*("|$)', '<value>', 'g'), '[#\w.-]*\d[\w.-]*', '<n>', 'g')"""


LABELS = f"""list_distinct(list_concat(
    CASE WHEN chunk_len < 200 THEN ['chunk_len_low'] ELSE [] END,
    CASE WHEN violation IS NOT NULL THEN ['violation'] ELSE [] END,
    CASE WHEN error IS NOT NULL THEN ['error'] ELSE [] END,
    CASE WHEN NOT list_bool_and([o.succeeded FOR o IN override_calls]) THEN ['override_failed'] ELSE [] END,
    CASE WHEN list_sum([c.flags FOR c IN calls]) > 0 THEN ['extreme_flags'] ELSE [] END,
    CASE WHEN NOT list_bool_and([c.ok FOR c IN calls]) THEN ['tool_error'] ELSE [] END,
    [{_class("lower(e)")} FOR e IN list_concat([c.error FOR c IN calls], [error]) IF e IS NOT NULL]))"""

RECORDS = f"""CREATE TEMP TABLE records AS
    SELECT epoch_us(ts) AS us, category_hash AS category, question_hash, question, session_hash, provider,
        chunk_len, violation, error, override_calls,
        [{{'shape': c.name || chr(1) || coalesce(c.args->>'axis', '') || chr(1)
                || array_to_string(list_sort(json_keys(c.args)), chr(2)),
            'ok': c.ok, 'error': c.error, 'ms': c.duration_ms, 'flags': len(c.extreme_flags)}}
            FOR c IN tool_calls] AS calls,
        array_to_string([c.shape FOR c IN calls IF c.ok], chr(3)) AS path,
        CASE WHEN judgment.verdict IN ('P', 'T') THEN true
            WHEN judgment.verdict IS NOT NULL OR violation IS NOT NULL THEN false
            WHEN NOT list_bool_and([o.succeeded FOR o IN override_calls]) THEN false
            WHEN list_sum([c.flags FOR c IN calls]) > 0 THEN false
            WHEN error IS NOT NULL OR NOT tool_calls[-1].ok THEN
                CASE WHEN {_class("lower(coalesce(tool_calls[-1].error, error))")} IN
                    ('rate_limit', 'transient_network') THEN NULL ELSE false END
            WHEN chunk_len < 200 THEN false
            WHEN chunk_len < 400 THEN NULL
            ELSE true END AS success
    FROM read_ndjson(?, columns = {COLUMNS}, ignore_errors = true,
        maximum_object_size = 67108864) WHERE ts IS NOT NULL"""

SEQUENCES = """CREATE TEMP TABLE sequences AS
    SELECT path, str_split(path, chr(3)) AS shapes,
        [split_part(s, chr(1), 1) || '(' || CASE WHEN split_part(s, chr(1), 2) = '' THEN ''
            ELSE 'axis=' || split_part(s, chr(1), 2) END || ')' FOR s IN shapes] AS names,
        list_filter(shapes, lambda s, i: i = 1 OR names[i] <> names[i - 1]) AS steps,
        array_to_string(list_filter(names, lambda n, i: i = 1 OR n <> names[i - 1]), '>') AS sequence
    FROM (SELECT DISTINCT path FROM records WHERE path <> '')"""


def main(logs: Path) -> None:
    query = duckdb.connect()
    query.execute("SET threads = 2; SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
    query.execute(RECORDS, [f"{logs}/*.jsonl"])
    query.execute(SEQUENCES)
    rates = query.execute("SELECT category, avg(success::INT) FROM records GROUP BY ALL").fetchall()
    patterns = query.execute(
        f"""SELECT category, 'seq:' || sha256(sequence)[:16], count(*), count(*) FILTER (success),
            count(DISTINCT session_hash), count(DISTINCT question_hash), sum(chunk_len), min(us), max(us),
            histogram(provider), histogram(steps), min_by(steps, us), sequence,
            min(us) FILTER (NOT success), max(us) FILTER (NOT success),
            min_by(question, us, {MAX_EXAMPLES}) FILTER (NOT success),
            histogram(provider) FILTER (NOT success)
        FROM records JOIN sequences USING (path) WHERE success IS NOT NULL GROUP BY category, sequence"""
    ).fetchall()
    passing = [
        row for row in patterns if row[2] >= GATE.min_repeat and row[3] / row[2] >= GATE.min_success_rate
    ]
    questions = _lists(
        query,
        """SELECT category, sequence, list(question ORDER BY us) FROM (
            SELECT category, sequence, min(us) AS us, min_by(question, us) AS question
            FROM records JOIN sequences USING (path) JOIN wanted USING (category, sequence)
            WHERE success IS NOT NULL GROUP BY category, sequence, question_hash) GROUP BY ALL""",
        passing,
    )
    labels = _lists(
        query,
        f"""SELECT category, sequence, list_distinct(flatten(list({LABELS})))
        FROM records JOIN sequences USING (path) JOIN wanted USING (category, sequence)
        WHERE NOT success GROUP BY ALL""",
        [row for row in patterns if row[3] < row[2]],
    )
    calls = query.execute(
        "SELECT c.shape, count(*) FROM (SELECT unnest(calls) AS c FROM records) GROUP BY ALL"
    ).fetchall()
    failing = query.execute(
        f"""WITH failed AS (SELECT unnest(calls, recursive := true), us, provider, question FROM records)
        SELECT shape, {_class("lower(error)")} AS class, {TEMPLATE} AS template, count(*), sum(ms), min(us),
            max(us), histogram(provider), min_by(question, us) FROM failed WHERE NOT ok GROUP BY ALL"""
    ).fetchall()
    findings = from_groups(
        [_pattern(row, questions.get(_key(row), []), labels.get(_key(row), [])) for row in patterns],
        dict(rates),
        [Failing(_shape(shape), *rest) for shape, *rest in failing],
        {_shape(shape): n for shape, n in calls},
    )
    n_records = query.execute("SELECT count(*) FROM records").fetchone()[0]
    print(json.dumps({"records": n_records, **findings}))


def _lists(
    query: duckdb.DuckDBPyConnection, select: str, rows: list[Any]
) -> dict[tuple[str, str], list[str]]:
    """Return a list per category and sequence, for the patterns of some rows."""
    query.execute("CREATE OR REPLACE TEMP TABLE wanted (category VARCHAR, sequence VARCHAR)")
    if rows:
        query.executemany("INSERT INTO wanted VALUES (?, ?)", [_key(row) for row in rows])
    return {(category, sequence): texts for category, sequence, texts in query.execute(select).fetchall()}


def _key(row: tuple[Any, ...]) -> tuple[str, str]:
    return row[0], row[12]


def _pattern(row: tuple[Any, ...], questions: list[str], labels: list[str]) -> Pattern:
    counts, earliest = row[10], tuple(map(_shape, row[11]))
    shapes = {tuple(map(_shape, steps)): n for steps, n in zip(counts["key"], counts["value"], strict=True)}
    return Pattern(
        *row[:10],
        questions[:MAX_QUESTIONS],
        {shape: (n, 0 if shape == earliest else 1) for shape, n in shapes.items()},
        (row[13], row[14]),
        row[15] or [],
        row[16] or {},
        frozenset(labels),
    )


def _shape(text: str) -> Shape:
    tool, axis, names = text.split("\1")
    return tool, (("axis", axis),) if axis else (), tuple(names.split("\2"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
