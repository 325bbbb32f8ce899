"""The tables of docs/reference/masking.md."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.measured.scores import Key, Tally, count_planted
from benchmarks.planted import PLAIN, Sample
from benchmarks.planted.disguises import AMBIGUOUS, GROUPS, MEANINGS, disguises
from benchmarks.planted.kind import Kind
from benchmarks.planted.kinds import SECTIONS
from benchmarks.planted.look_alikes import LOOK_ALIKES

Tallies = Mapping[str, Tally]
"""By tool: mask, hash, drop, presidio, scrubadub."""
_NAMES = {"presidio": "Presidio", "scrubadub": "scrubadub"}


def share(count: int, total: int) -> str:
    """A percentage; 0 only if it is nothing."""
    if not total:
        return "–"
    if not count:
        return "0"
    percent = 100 * count / total
    return f"{percent:.1f}".removesuffix(".0") + " %" if percent >= 0.1 else "<0.1 %"


def summary(samples: Sequence[Sample], tallies: Tallies) -> Iterator[str]:
    planted, harmless = totals(samples)
    n_plain = sum(count for (_, is_plain), count in planted.items() if is_plain)
    n_disguised = planted.total() - n_plain
    yield (
        f"| tool | missed: {n_plain:,} plain | missed: {n_disguised:,} disguised | "
        f"replaced: {harmless.total():,} look-alikes |"
    )
    yield "|---|---|---|---|"
    for tool, tally in tallies.items():
        plain = sum(count for (_, is_plain), count in tally.missed.items() if is_plain)
        replaced = "–" if tool in {"hash", "drop"} else share(tally.replaced.total(), harmless.total())
        missed = share(plain, n_plain), share(tally.missed.total() - plain, n_disguised)
        yield f"| {_shown(tool)} | {missed[0]} | {missed[1]} | {replaced} |"


def by_kind(samples: Sequence[Sample], tallies: Tallies) -> Iterator[str]:
    """One row per kind, in the order of `SECTIONS`; kinds of another generator as they come."""
    planted, harmless = totals(samples)
    others = [tool for tool in tallies if tool in _NAMES]
    columns = ["kind", "planted", "mask", "look-alikes", "hash", "drop"]
    yield (
        "| "
        + " | ".join([*columns, *(part for tool in others for part in (_NAMES[tool], "look-alikes"))])
        + " |"
    )
    yield "|---" * (len(columns) + 2 * len(others)) + "|"
    for section, names in _sections(planted):
        yield f"| **{section}** |" + " |" * (len(columns) + 2 * len(others) - 1)
        for name in names:
            sizes = planted[name, True], planted[name, False]
            cells = [name, f"{sizes[0]} + {sizes[1]}"]
            for tool, tally in tallies.items():
                cells.append(_missed(tally.missed, name, sizes))
                if tool not in {"hash", "drop"}:
                    cells.append(share(tally.replaced[name], harmless[name]))
            yield "| " + " | ".join(cells) + " |"


def _sections(planted: Counter[Key]) -> Iterator[tuple[str, list[str]]]:
    names = list(dict.fromkeys(name for name, _ in planted))
    for section, kinds in SECTIONS:
        if own := [kind.name for kind in kinds if kind.name in names]:
            yield section, own
    known = {kind.name for _, kinds in SECTIONS for kind in kinds}
    if foreign := [name for name in names if name not in known]:
        yield "other kinds", foreign


def by_disguise(samples: Sequence[Sample], missed: Counter[str]) -> Iterator[str]:
    planted = Counter(value.form for sample in samples for value in sample.planted)
    yield "| form | planted | missed by mask |"
    yield "|---|---|---|"
    for form in (PLAIN, *MEANINGS):
        yield f"| {form} | {planted[form]} | {share(missed[form], planted[form])} |"


def _missed(missed: Counter[Key], kind: str, sizes: tuple[int, int]) -> str:
    plain, disguised = share(missed[kind, True], sizes[0]), share(missed[kind, False], sizes[1])
    return plain if plain == disguised else f"{plain}; {disguised}"


def _shown(tool: str) -> str:
    return _NAMES.get(tool, f"coreloop, `{tool}`")


def totals(samples: Sequence[Sample]) -> tuple[Counter[Key], Counter[str]]:
    planted = count_planted(value for sample in samples for value in sample.planted)
    return planted, Counter(harmless.like for sample in samples for harmless in sample.harmless)


def kinds() -> Iterator[str]:
    """One row per kind: enough to write another generator."""
    yield "| kind | values | groups of disguises | look-alikes |"
    yield "|---|---|---|---|"
    look_alikes: dict[str, list[str]] = {}
    for family in LOOK_ALIKES:
        look_alikes.setdefault(family.like, []).append(family.shape)
    for section, found in SECTIONS:
        yield f"| **{section}** | | | |"
        for kind in found:
            cells = kind.name, _values(kind), ", ".join(kind.disguises.split())
            yield f"| {' | '.join(cells)} | {'; '.join(look_alikes.get(kind.name, ['–']))} |"
    yield f"| any | | | {'; '.join(look_alikes[''])} |"


def _values(kind: Kind) -> str:
    values = kind.shape
    if kind.bare and kind.beside:
        words = ", ".join(dict.fromkeys(re.sub(r"[{}:]+|\bis\b", "", text).strip() for text in kind.beside))
        if AMBIGUOUS.intersection(disguises(kind.disguises)):
            values += f"; if ambiguous, beside {words}"
    if kind.keys:
        values += f"; keys {', '.join(f'`{key}`' for key in kind.keys)}"
    return values + "; also as a JSON number" * kind.is_number


def forms() -> Iterator[str]:
    """One row per disguise, with the groups that it belongs to."""
    yield "| disguise | in the groups | what |"
    yield "|---|---|---|"
    for name, what in MEANINGS.items():
        groups = ", ".join(group for group, members in GROUPS.items() if name in members)
        yield f"| {name}{' (ambiguous)' if name in AMBIGUOUS else ''} | {groups} | {what} |"


def update(page: Path, blocks: Mapping[str, str]) -> None:
    """Replace the marked blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
        parts = pattern.split(text)
        if len(parts) != 4:
            raise SystemExit(f"{page}: expected one block <!-- {name}: … --> … <!-- end of {name} -->")
        text = f"{parts[0]}{parts[1]}\n{block}\n{parts[2]}{parts[3]}"
    page.write_text(text, encoding="utf-8")
