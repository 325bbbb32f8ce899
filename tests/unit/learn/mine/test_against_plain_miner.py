"""coreloop's mining compared with a slow, simple miner: every group, on real episodes and generated logs."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plain_miner
from coreloop.base.date_range import Days
from coreloop.learn.facts.read_lines import FileFacts, MineSettings
from coreloop.learn.facts.schema import find_oddities
from coreloop.learn.mine import folder as mining
from coreloop.learn.mine.window import Window, merge
from coreloop.learn.proposals.entry import Candidate
from coreloop.learn.sequences import count_patterns, find_candidates
from coreloop.observe.reading.outcome import RequestOutcome
from logs import line
from rows import slow_after
from weekly import WEEKLY

OPEN_GATE = {"min_repeat": 1, "min_unique_questions": 1, "min_success_rate": 0}
ALWAYS = Days(date(1970, 1, 1), date(2100, 1, 1))
FIRST_DAY = datetime(2026, 4, 22, 22, tzinfo=UTC)


@pytest.fixture(autouse=True, scope="module")
def all_is_kept_and_read_in_chunks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining, "_KEPT_FROM", 0)
        patch.setattr(mining, "_CHUNK_BYTES", 2000)
        yield


def _files(folder: Path, settings: MineSettings) -> list[FileFacts]:
    return mining.read_folder(folder, settings, cache=folder / "facts")


def _neutral(window: Window) -> Counter[tuple[str, str]]:
    counts = Counter[tuple[str, str]]()
    for group in window.requests:
        n = sum(outcome < RequestOutcome.FAILURE for outcome in group.column("outcome"))
        counts[group.alike.category, window.steps(group).sequence] += n
    return +counts


def _with_steps(window: Window) -> dict[tuple[str, str], Candidate]:
    search = find_candidates(window, **OPEN_GATE)
    return {(candidate.cat_hash, candidate.seq_hash): candidate for candidate in search.entries}


def _assert_same(folder: Path, days: Days, mine_settings: MineSettings) -> plain_miner.Mined:
    plain = plain_miner.mine(
        sorted(folder.glob("*.jsonl")),
        since=days.since,
        until=days.until,
        min_chunk_len=mine_settings.min_chunk_len,
        selectors=mine_settings.selectors,
    )
    files = _files(folder, mine_settings)
    window = merge(files, days)
    counted = {key: group for key, group in plain.groups.items() if group.n}
    rows = {(row["category"], row["sequence"]): row for row in count_patterns(window).to_dicts()}
    assert rows.keys() == counted.keys()
    for key, group in counted.items():
        row = rows[key]
        assert (row["n_observed"], row["n_success"], row["n_sessions"]) == (
            group.n,
            group.successes,
            group.sessions,
        ), key
        assert row["base_rate"] == pytest.approx(group.base_rate)
        assert row["success_rate"] == pytest.approx(group.successes / group.n)
        assert (_moment(row["first_us"]), _moment(row["last_us"])) == (group.first, group.last), key
    candidates = _with_steps(window)
    assert {key for key, group in counted.items() if group.sequence} <= candidates.keys() <= counted.keys()
    assert {key: candidate.n_unique_questions for key, candidate in candidates.items()} == {
        key: counted[key].questions for key in candidates
    }
    empty = plain_miner.hash_sequence("")
    neutral = {key: n for key, n in _neutral(window).items() if key[1] != empty}
    assert neutral == {key: group.neutral for key, group in plain.groups.items() if group.neutral}
    odd = find_oddities((file.path, part) for file in files for part in file.parts)
    assert sum(odd.skipped.values()) == plain.n_skipped
    assert {name: oddity.n for name, oddity in odd.read_as_absent.items()} == dict(plain.absent)
    return plain


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


@pytest.fixture
def tau_folder(tau_log: Path, tmp_path: Path) -> Path:
    (tmp_path / "tau.jsonl").write_bytes(tau_log.read_bytes())
    return tmp_path


@pytest.mark.parametrize("min_chunk_len", slow_after(1, [None, 0, 400]))
def test_all_groups_of_the_real_episodes_are_the_plain_miners(tau_folder: Path, min_chunk_len: int | None):
    plain = _assert_same(tau_folder, ALWAYS, MineSettings(min_chunk_len=min_chunk_len))
    assert len(plain.groups) > 300
    assert plain.n_skipped == 0


# --- made-up logs ---------------------------------------------------------------------------------

AXES = st.sampled_from(
    [
        "수익성",
        "배당",
        " 배당 ",
        "배당",
        "ROE>1",
        'a"b',
        "",
        3,
        2.5,
        True,
        False,
        None,
        ["a"],
        {"a": 1},
        "x" * 81,
    ]
)
ARGS = st.one_of(
    st.builds(dict),
    st.fixed_dictionaries({}, optional={"axis": AXES, "sub": AXES, "topic": st.sampled_from(["손익", 1])}),
    st.sampled_from([["수익성"], "수익성", 7, None]),
)
ERRORS = st.sampled_from(
    [
        "connection reset by peer",
        "rate limit exceeded (429): retry after 20 s",
        "503 Service Unavailable",
        "ValueError: unknown axis '주가'",
        "timed out after 30 s",
        "",
        {"code": 5},
    ]
)
NO_ERROR = st.none()
FLAGS = st.sampled_from([[], [], [], [], [], ["wacc>0.25"], None])
CALL = st.one_of(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["analysis", "show", "scan", "a>b"]),
            "args": ARGS,
            "ok": st.sampled_from([*[True] * 6, False, None]),
            "error": st.one_of(NO_ERROR, NO_ERROR, NO_ERROR, ERRORS),
        },
        optional={"overrides_used": st.sampled_from([None, [], ["wacc"]]), "extreme_flags": FLAGS},
    ),
    st.sampled_from(["analysis", "show"]),
)
WORDS = [
    "삼성전자",
    "수익성",
    "분석해줘",
    "배당",
    "ROE",
    "roe",
    "ＲＯＥ",
    "how",
    "much?",
    "가",
    "나",
    "!",
    "2024",
]
QUESTION = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
OFFSETS_S = st.one_of(st.integers(0, 2), st.integers(0, 4 * 86_400))
ZONES = st.sampled_from(["Z", "+00:00", "", "+09:00", "-05:30"])
LABELS = st.sampled_from([*["FIN-a-KR"] * 9, "b", "UNSPECIFIED", "no label!", "a-b-c-d-e", None, ""])
SESSIONS = st.sampled_from([None, "session:00000000000000a1", "session:other"])
OVERRIDE = st.fixed_dictionaries(
    {"tool": st.sampled_from(["analysis", "show"])}, optional={"succeeded": st.booleans()}
)
CHUNK_LENS = st.sampled_from([0, 199, 200, 399, 399.5, 400, 1000, 1000, 1000, None])
VERDICTS = st.sampled_from(
    [None, None, {}, *({"verdict": verdict} for verdict in ("P", "T", "V", "C", "?", None))]
)
ODD_JSON = """[null, true, false, 7, 2.5, -1, 1777109400, 1777109400123, "text", "18", "V", "", "true", [],
[1], {}, {"a": null}, {"wacc": 0.1}, ["a", {"text": "b"}], [{"name": "show"}], {"name": "show"}]"""
ODD_VALUES = st.sampled_from(json.loads(ODD_JSON))
LISTED = ["tool_calls", "override_calls", "judgment"]
FIELDS = [*plain_miner.RECORD, *LISTED, "duration_total_ms", "no_such_field"]


@st.composite
def _moments(draw: st.DrawFn) -> str:
    moment = FIRST_DAY + timedelta(
        seconds=draw(OFFSETS_S), microseconds=draw(st.sampled_from([0, 1, 999_999]))
    )
    return moment.replace(tzinfo=None).isoformat() + draw(ZONES)


@st.composite
def _requests(draw: st.DrawFn, calls: list[Any]) -> dict[str, Any]:
    """One request that works with these calls; usually a good one, so that groups have something to count."""
    made: dict[str, Any] = {
        "ts": draw(_moments()),
        "question": draw(QUESTION),
        "tool_calls": calls,
        "chunk_len": draw(CHUNK_LENS),
        "error": None,
        "skill_used": None,
    }
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return made | {"error": draw(ERRORS)}
    if kind <= 2:
        return made  # version 1
    made |= {"schema_version": 2, "category_hash": draw(LABELS), "session_hash": draw(SESSIONS)}
    if kind == 3:
        made |= {"override_calls": [draw(OVERRIDE)], "judgment": draw(VERDICTS)}
    if kind == 4:
        made |= {"violation": "advice", "judgment": draw(VERDICTS)}
    return made | draw(_extras(made)) if kind == 5 else made


def _odd(fields: Iterable[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from([*fields]), ODD_VALUES, max_size=2)


@st.composite
def _extras(draw: st.DrawFn, made: dict[str, Any]) -> dict[str, Any]:
    recorded, _ = plain_miner.sequence_of(made, {})
    more = [{"name": "show"}] * draw(st.integers(0, 1))
    sequence = plain_miner.sequence_of({"tool_calls": [*made["tool_calls"], *more]}, {})[1]
    omitted = {"tool_calls_omitted": draw(st.integers(0, 2)), "tool_sequence_hash": sequence}
    text_is_missing = {"question": None, "question_hash": draw(st.sampled_from(["md5:1", "md5:2"]))}
    return draw(
        st.sampled_from(
            [
                omitted,
                {**omitted, "omitted_failure": True},
                {"tool_sequence_hash": "another miner's " + (recorded or "")},
                text_is_missing,
                {"origin": "replay"},
                {"schema_version": 3},
                {draw(st.sampled_from(FIELDS)): draw(ODD_VALUES)},
                {"tool_calls": [*made["tool_calls"], {"name": "show", **draw(_odd(plain_miner.CALL))}]},
                {"override_calls": [{"tool": "show", **draw(_odd(plain_miner.OVERRIDE))}]},
            ]
        )
    )


@st.composite
def _line(draw: st.DrawFn, calls: st.SearchStrategy[list[Any]]) -> bytes:
    text = json.dumps(draw(_requests(draw(calls))), ensure_ascii=False).encode()
    kind = draw(st.integers(0, 30))
    if kind == 1:
        text = text[: draw(st.integers(0, len(text) - 1))]
    elif kind == 2:
        text = draw(st.sampled_from([b"", b"  ", b"{}", b"[]", b"\xff\xfe", b"\0" * 9, b"null", text + text]))
    return text + draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))


@st.composite
def _logs(draw: st.DrawFn) -> list[bytes]:
    """Lines of requests that share a few ways of working."""
    ways = draw(st.lists(st.lists(CALL, max_size=4), min_size=1, max_size=3))
    size = draw(st.sampled_from([0, 3, 12, 20]))
    return draw(st.lists(_line(st.sampled_from(ways)), min_size=size // 2, max_size=size))


LOGS = _logs()


def _write_parts(folder: Path, lines: list[bytes], *, cuts: list[int], mark: bytes = b"") -> None:
    folder.mkdir(exist_ok=True)
    ends = [*sorted({cut for cut in cuts if 0 < cut < len(lines)}), len(lines)]
    starts = [0, *ends[:-1]]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        (folder / f"part-{number:03}.jsonl").write_bytes(mark + b"".join(lines[start:end]))


def _in_a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.slow
@settings(max_examples=60 if WEEKLY else 30)
@given(
    lines=LOGS,
    n_before=st.integers(0, 20),
    cuts=st.lists(st.integers(1, 40), max_size=2),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    first=st.integers(0, 3),
    length=st.integers(0, 4),
    min_chunk_len=st.sampled_from([None, 0, 100, 400]),
    selectors=st.sampled_from([{}, {"analysis": ("topic", "axis")}, {"show": ()}]),
)
def test_all_groups_of_a_made_up_log_are_the_plain_miners(
    lines, n_before, cuts, mark, first, length, min_chunk_len, selectors
):
    since = FIRST_DAY.date() + timedelta(days=first)
    for folder in _in_a_folder():
        settings = MineSettings(selectors=selectors, min_chunk_len=min_chunk_len)
        for n in (n_before, len(lines)):
            _write_parts(folder, lines[:n], cuts=cuts, mark=mark)
            _files(folder, settings)
        _assert_same(folder, Days(since, since + timedelta(days=length)), settings)


def _crowded_log(seed: int) -> list[bytes]:
    """Many requests that work in a few ways: large groups, which hypothesis hardly ever draws."""
    random = Random(seed)
    good = [{"name": "analysis", "args": {"axis": axis}, "ok": True} for axis in ("수익성", "배당")]
    bad = {"name": "show", "ok": False, "error": "connection reset"}
    flagged = {"name": "analysis", "args": {"axis": "배당"}, "ok": True, "extreme_flags": ["x"]}
    cleared = {**flagged, "extreme_flags": [], "overrides_used": ["wacc"]}
    ways = [good, [bad, *good], [*good, bad], good[:1], [flagged], [flagged, cleared], [cleared, flagged], []]
    records = [
        {
            "schema_version": 2,
            "ts": (
                FIRST_DAY + timedelta(minutes=random.choice([random.randrange(9), random.randrange(5000)]))
            ).isoformat(),
            "question": " ".join(random.sample(WORDS, random.randint(1, 7))),
            "category_hash": random.choice(["FIN-a-KR", "FIN-b-KR"]),
            "session_hash": f"session:{random.randint(1, 9):016x}",
            "tool_calls": random.choice(ways),
            "chunk_len": random.choice([0, 300, 500, 500, 500, 700.5]),
            "judgment": {"verdict": random.choice([*[None] * 9, "P", "V"])},
        }
        for _ in range(200)
    ]
    return [line(row) for row in records]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_all_groups_of_a_crowded_log_are_the_plain_miners(seed: int, tmp_path: Path):
    _write_parts(tmp_path, _crowded_log(seed), cuts=[70, 71])
    settings = MineSettings(min_chunk_len=400)
    plain = _assert_same(tmp_path, Days(date(2026, 4, 22), date(2026, 4, 24)), settings)
    assert max(group.n for group in plain.groups.values()) > 10
    assert any(group.neutral for group in plain.groups.values())
    assert len({group.questions / group.n for group in plain.groups.values() if group.n}) > 3
