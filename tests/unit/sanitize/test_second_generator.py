"""The second generator of the privacy benchmark."""

import json
import sys
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.measured import tables  # noqa: E402 - needs the path above
from benchmarks.measured.scores import readable, replaced  # noqa: E402
from benchmarks.planted import PLAIN  # noqa: E402
from benchmarks.planted.disguises import GROUPS as DOCUMENTED  # noqa: E402
from benchmarks.planted_again import checks, make_samples  # noqa: E402
from benchmarks.planted_again.disguise import GROUPS  # noqa: E402
from benchmarks.planted_again.kinds import KINDS, LOOK_ALIKES  # noqa: E402
from benchmarks.planted_again.samples import forms_of  # noqa: E402

from rows import each_row  # noqa: E402


def test_each_kind_of_the_page_is_planted_plain_and_in_each_of_its_disguises() -> None:
    documented = {row.split(" | ")[0].removeprefix("| ") for row in tables.kinds()}
    assert {kind.name for kind in KINDS} == {name for name in documented if name not in {"kind", "any"}} - {
        row for row in documented if row.startswith(("**", "|--"))
    }
    assert {group: set(forms) for group, forms in GROUPS.items()} == {
        group: set(forms) for group, forms in DOCUMENTED.items()
    }
    written = {(value.kind, value.form) for sample in make_samples(7, values=20) for value in sample.planted}
    assert written == {(kind.name, form) for kind in KINDS for form in (PLAIN, *forms_of(kind))}


def test_a_seed_makes_the_same_records_and_another_seed_others() -> None:
    first, again, other = (
        [json.dumps(sample.record) for sample in make_samples(seed, values=2)] for seed in (1, 1, 2)
    )
    assert first == again
    assert not set(first) & set(other)


def test_planted_values_are_readable_and_look_alikes_are_in_place() -> None:
    samples = list(make_samples(3, values=5))
    records = [json.loads(json.dumps(sample.record)) for sample in samples]
    missed = {id(value) for value, _ in readable(samples, records)}
    planted = [value for sample in samples for value in sample.planted]
    assert [value for value in planted if id(value) not in missed] == []
    assert list(replaced(samples, records)) == []
    assert {like.like for sample in samples for like in sample.harmless} == set(LOOK_ALIKES)


@each_row(
    ("made", "published"),
    [
        (checks.luhn("7992739871"), "3"),
        (checks.iban("GB", "WEST12345698765432"), "GB82WEST12345698765432"),
        (checks.iban("DE", "370400440532013000"), "DE89370400440532013000"),
        (checks.business("124810099"), "8"),
        (checks.corporate("130111000624"), "6"),
        (checks.nhs("943476591"), "9"),
        (checks.dni("12345678"), "Z"),
        (checks.nie("X1234567"), "L"),
        (checks.fiscal("RSSMRA85T10A562"), "S"),
        (checks.steuer("8609574271"), "9"),
        (checks.bsn("11122233"), "3"),
        (checks.nir("2550814168025"), "38"),
    ],
)
def test_check_digits_are_those_of_published_numbers(made: str, published: str) -> None:
    assert made == published


def test_every_value_differs_from_the_next() -> None:
    chance = Random(5)
    few = {
        "listed company",
        "listed company whose name is a word",
        "stock code",
        "surname after Mr., Ms., Dr.",
    }
    for kind in KINDS:
        if kind.name not in few:
            assert len({kind.make(chance).text for _ in range(20)}) > 5, kind.name
