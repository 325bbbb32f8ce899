"""The benchmark of what `sanitize` misses: its values are valid, and its scorer sees what can be read."""

import json
import re
import sys
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT))

from benchmarks.measured import heuristics, scores, tables  # noqa: E402 - needs the path above
from benchmarks.measured.exports import as_lines, exported  # noqa: E402
from benchmarks.planted import Harmless, Planted, Sample, make_samples, people, sentences  # noqa: E402
from benchmarks.planted.check_digits import iban, luhn_digit, nir, resident  # noqa: E402
from benchmarks.planted.disguises import GROUPS, MEANINGS, disguises  # noqa: E402
from benchmarks.planted.kind import Kind, Value  # noqa: E402
from benchmarks.planted.kinds import KINDS  # noqa: E402
from benchmarks.planted.look_alikes import LOOK_ALIKES  # noqa: E402
from benchmarks.planted.records import disguised  # noqa: E402
from benchmarks.planted.score import Secrets, fold, needed, strings  # noqa: E402

from rows import each_row  # noqa: E402

CARD = Value("4111-1111-1234-5678")
MAIL = Value("minjun.kim@naver.com", ("minjun.kim",))


@each_row(
    ("value", "text"),
    [
        pytest.param(CARD, "card 4111-1111-1234-5678!", id="as it is"),
        pytest.param(CARD, "４１１１ １１１１ １２３４ ５６７８", id="full width"),
        pytest.param(CARD, "4111\n1111\n1234\n5678", id="line breaks"),
        pytest.param(CARD, "4\u200b111111\u00ad112345678", id="invisible characters"),
        pytest.param(CARD, "4lll-llll-l234-5678", id="letters for digits"),
        pytest.param(CARD, "사일일일 일일일일 일이삼사 오육칠팔", id="spelled out"),
        pytest.param(CARD, "[CARD-1] 1111-1234", id="half of it"),
        pytest.param(CARD, "NDExMS0xMTExLTEyMzQtNTY3OA==", id="base64"),
        pytest.param(MAIL, "minjun.kim@[URL-1]", id="the user's name of an address"),
        pytest.param(MAIL, "%6D%69%6E%6A%75%6E.%6B%69%6D", id="%XX"),
        pytest.param(MAIL, "&#109;injun&#x2e;kim", id="HTML entities"),
        pytest.param(MAIL, r'{"a": "\u006dinjun.kim"}', id="escapes"),
        pytest.param(MAIL, "mіnjun.kіm", id="look-alike letters"),
        pytest.param(MAIL, "JTZEJTY5JTZFJTZBJTc1JTZFLmtpbQ==", id="%XX in base64"),
        pytest.param(Value("김서연", ("서연",)), "서연 대리", id="decomposed"),
    ],
)
def test_what_can_be_read_is_missed(value: Value, text: str) -> None:
    assert Secrets(value).are_in(text)


@each_row(
    ("value", "text"),
    [
        pytest.param(CARD, "[CARD-41111111]", id="a label's number"),
        pytest.param(CARD, "card ending in 5678", id="the last four digits"),
        pytest.param(MAIL, "[EMAIL-1]@naver.com", id="the domain"),
        pytest.param(Value("ababa"), "text-ababakkkkkkkkkkkkkkkkkkkkkkkkkkk", id="a pseudonym's letters"),
        pytest.param(Value("Emily Carter", ("Emily", "Carter")), "Dear E. C.", id="initials"),
    ],
)
def test_what_is_gone_is_not_missed(value: Value, text: str) -> None:
    assert not Secrets(value).are_in(text)


def test_rest_of_a_disguised_form_is_missed() -> None:
    value = Value("880101-1234567")
    assert Secrets(value, "ODgwMTAxLTEyMzQ1Njc=").are_in("[RRN-1]ODgwMTAxLTEy")
    assert not Secrets(value).are_in("AxLTEyMzQ1N")


@each_row(("length", "run"), [(1, 1), (5, 5), (6, 5), (11, 5), (13, 6), (16, 7), (30, 12), (100, 12)])
def test_two_fifths_of_a_secret_are_a_leak(length: int, run: int) -> None:
    assert needed(length) == run


def test_every_string_key_and_number_of_a_record_is_read() -> None:
    record = {"a": [{"b": 1234567}, True, None], "c": {"d": "e", "f": 1.5}}
    assert sorted(strings(record)) == sorted(["a", "b", "1234567", "c", "d", "e", "f", "1.5"])


def test_planted_values_are_readable_in_their_records_and_look_alikes_are_in_place() -> None:
    samples = list(make_samples(5, values=2))
    records = [json.loads(line) for line in as_lines(samples)]
    readable = {id(planted) for planted, _ in scores.readable(samples, records)}
    assert [p for sample in samples for p in sample.planted if id(p) not in readable] == []
    assert list(scores.replaced(samples, records)) == []


def test_a_seed_makes_the_same_records_and_another_seed_others() -> None:
    first, again, other = (as_lines(make_samples(seed, values=1)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_each_kind_is_planted_plain_and_disguised_and_each_family_of_look_alikes() -> None:
    samples = list(make_samples(3, values=2))
    planted, harmless = tables.totals(samples)
    assert {(kind.name, is_plain) for kind in KINDS for is_plain in (True, False)} == set(planted)
    assert {family.like for family in LOOK_ALIKES} == set(harmless)
    assert {kind.name for kind in KINDS} | {""} >= {family.like for family in LOOK_ALIKES}
    assert min(planted.values()) >= 2


def test_every_disguise_is_used_and_explained() -> None:
    used = {name for kind in KINDS for name in disguises(kind.disguises)}
    assert used == set(MEANINGS)
    assert used == {name for group in GROUPS.values() for name in group}


@each_row("kind", KINDS, ids=lambda kind: kind.name)
def test_disguised_values_are_not_written_as_they_are(kind: Kind) -> None:
    chance = Random(4)
    for _ in range(5):
        value = kind.make(chance)
        form, mention = disguised(kind, value, chance)
        assert form in disguises(kind.disguises)
        assert value.text not in mention.text
        assert Secrets(value, mention.written).are_in(mention.text)


def test_no_name_occurs_in_the_sentences_around_it() -> None:
    frames = "\n".join(
        (*sentences.KOREAN, *sentences.ENGLISH, *sentences.ATTACHED, *sentences.ERRORS, *sentences.PASTED)
    )
    names = [*people.GIVEN, *people.RARE_GIVEN, *people.FIRST, *people.LAST, *people.COMPANIES]
    assert [name for name in names if fold(name) in fold(frames)] == []


def test_check_digits_are_those_of_known_numbers() -> None:
    assert luhn_digit("411111111111111") == "1"
    for _ in range(20):
        chance = Random(_)
        account, person, french = iban(chance), resident(chance), nir(chance)
        assert int("".join(str(int(char, 36)) for char in account[4:] + account[:4])) % 97 == 1
        weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
        total = sum(int(digit) * weight for digit, weight in zip(person, weights, strict=False))
        assert (11 - total % 11) % 10 == int(person[12])
        assert (int(french[:13]) + int(french[13:])) % 97 == 0


def test_hash_is_scored_with_two_keys_and_mask_reports_look_alikes() -> None:
    record = next(make_samples(1, values=1)).record
    mail = Planted("e-mail address", "plain", "question", MAIL, MAIL.text)
    kept = Harmless("", "words", "question", "안녕하세요")
    sample = Sample(record | {"question": f"안녕하세요 {MAIL.text}"}, (mail,), (kept,))
    for mode in ("mask", "hash", "drop"):
        assert scores.result_of_mode([sample], mode) == scores.Result([], [])
    assert [pair[0] for pair in scores.replaced([sample], [{}])] == [kept]
    assert exported([sample], "mask")[0]["question"] == "안녕하세요 [EMAIL-1]"


@each_row("name", heuristics.HEURISTICS)
def test_heuristics_of_the_ablation_exist(name: str) -> None:
    assert name in heuristics.existing()


@each_row(
    ("count", "total", "shown"),
    [(0, 0, "–"), (0, 60, "0"), (60, 60, "100 %"), (1, 60, "1.7 %"), (30, 60, "50 %"), (1, 5000, "<0.1 %")],
)
def test_shares_are_shown(count: int, total: int, shown: str) -> None:
    assert tables.share(count, total) == shown


def test_blocks_of_a_page_are_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- x: by y -->\nold\n<!-- end of x -->\nb\n", encoding="utf-8")
    tables.update(page, {"x": "| 1 |"})
    tables.update(page, {"x": "| 2 |"})
    assert page.read_text(encoding="utf-8") == "a\n<!-- x: by y -->\n\n| 2 |\n\n<!-- end of x -->\nb\n"
    with pytest.raises(SystemExit, match="z"):
        tables.update(page, {"z": ""})


def test_the_page_has_a_row_for_each_kind_and_disguise() -> None:
    page = (ROOT / "docs" / "reference" / "masking.md").read_text(encoding="utf-8")
    assert "\n".join(tables.kinds()) in page
    assert "\n".join(tables.forms()) in page
    assert [
        kind.name
        for kind in KINDS
        if not re.search(rf"^\| {re.escape(kind.name)} \| \d+ \+ \d+ \|", page, re.M)
    ] == []
