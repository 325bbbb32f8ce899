"""The same counts by DuckDB's ``read_ndjson``, two threads."""

import json
import sys
from pathlib import Path

import duckdb

from coreloop.mine import outcome

COLUMNS = """{
    ts: 'TIMESTAMPTZ', category_hash: 'VARCHAR', question: 'VARCHAR', question_hash: 'VARCHAR',
    session_hash: 'VARCHAR', provider: 'VARCHAR', chunk_len: 'BIGINT', error: 'VARCHAR', violation: 'VARCHAR',
    override_calls: 'STRUCT(tool VARCHAR, succeeded BOOLEAN)[]', judgment: 'STRUCT(verdict VARCHAR)',
    tool_calls: 'STRUCT(name VARCHAR, args JSON, ok BOOLEAN, error VARCHAR, extreme_flags VARCHAR[],
        duration_ms DOUBLE)[]'}"""


def _class() -> str:
    """`coreloop.mine.outcome.error_class` in SQL."""
    branches = []
    for name, words in outcome._CLASSES:
        patterns = [pattern.pattern for _, pattern in outcome._PATTERNS.get(name, ())]
        branches.append(f"WHEN regexp_matches(e, '{'|'.join([*words, *patterns])}') THEN '{name}'")
    return f"CASE {' '.join(branches)} ELSE 'other' END"


TEMPLATE = r"""regexp_replace(regexp_replace(regexp_replace(regexp_replace(nfc_normalize(error),
    '\S*@\S*|\w+:/{2}\S*', '<address>', 'g'), '\S*[\\/]\S*', '<path>', 'g'),
    '''[^'']*(''|$)|"[^"]*("|$)', '<value>', 'g'), '[#\w.-]*\d[\w.-]*', '<n>', 'g')"""


def main(logs: Path) -> None:
    query = duckdb.connect()
    query.execute("SET threads = 2; SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
    query.execute(
        f"""CREATE TEMP TABLE records AS
        SELECT ts, category_hash, question_hash, question, session_hash, provider, chunk_len,
            list_filter(tool_calls, lambda c: NOT c.ok) AS failed,
            [c.name || json_keys(c.args)::VARCHAR || coalesce(c.args->>'axis', '')
                FOR c IN tool_calls] AS shapes,
            list_transform(list_filter(tool_calls, lambda c: c.ok), lambda c: c.name || '(' ||
                coalesce('axis=' || (c.args->>'axis'), '') || ')') AS steps,
            CASE WHEN judgment.verdict IN ('P', 'T') THEN true
                WHEN judgment.verdict IS NOT NULL OR violation IS NOT NULL THEN false
                WHEN len(list_filter(override_calls, lambda o: NOT o.succeeded)) > 0 THEN false
                WHEN len(list_filter(tool_calls, lambda c: len(c.extreme_flags) > 0)) > 0 THEN false
                WHEN error IS NOT NULL OR NOT tool_calls[-1].ok THEN
                    CASE WHEN lower(coalesce(tool_calls[-1].error, error)) SIMILAR TO '.*(429|connection).*'
                        THEN NULL ELSE false END
                WHEN chunk_len < 200 THEN false
                WHEN chunk_len < 400 THEN NULL
                ELSE true END AS success
        FROM read_ndjson('{logs}/*.jsonl', columns = {COLUMNS}, ignore_errors = true,
            maximum_object_size = 67108864) WHERE ts IS NOT NULL"""
    )
    patterns = query.execute(
        """WITH collapsed AS (
            SELECT *, array_to_string(
                list_filter(steps, lambda s, i: i = 1 OR s <> steps[i - 1]), '>') AS sequence
            FROM records)
        SELECT category_hash, sha256(sequence)[:16] AS hashed, count(success) AS n,
            count(*) FILTER (success) AS successes,
            count(DISTINCT question_hash) FILTER (success IS NOT NULL),
            count(DISTINCT session_hash) FILTER (success IS NOT NULL), avg(chunk_len),
            min(epoch_us(ts)), max(epoch_us(ts)),
            min_by(question, ts, 5), histogram(provider)
        FROM collapsed WHERE sequence <> '' GROUP BY ALL HAVING n > 0"""
    ).fetchall()
    query.execute(
        """SELECT shape, count(*) FROM (SELECT unnest(shapes) AS shape FROM records) GROUP BY ALL"""
    ).fetchall()
    failing = query.execute(
        f"""WITH calls AS (SELECT unnest(failed, recursive := true), ts FROM records),
        classed AS (SELECT *, lower(error) AS e FROM calls)
        SELECT name, list_sort(json_keys(args)), args->>'axis', {_class()} AS class, {TEMPLATE} AS template,
            count(*) AS n, sum(duration_ms), min(epoch_us(ts)), max(epoch_us(ts)) FROM classed GROUP BY ALL"""
    ).fetchall()
    print(
        json.dumps(
            {
                "records": query.execute("SELECT count(*) FROM records").fetchone()[0],
                "patterns": len(patterns),
                "successes": sum(row[3] for row in patterns),
                "perfect": sum(row[2] == row[3] >= 3 for row in patterns),
                "failing": len(failing),
                "failures": sum(row[5] for row in failing),
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
