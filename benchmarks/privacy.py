"""What ``sanitize`` misses and what it replaces in vain, on records that nobody tuned it on.

    uv run python benchmarks/privacy.py            # the table, on this release's three seeds
    uv run python benchmarks/privacy.py --update   # and write it into docs/reference/masking.md
    uv run python benchmarks/privacy.py --seeds 1,2 --misses    # examples, for work on the rules

Plants values of every kind (`benchmarks.planted`), exports the records in each mode and looks for what can
still be read.
"""

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.planted import PLAIN, Harmless, Planted, Sample, make_samples, names_file  # noqa: E402
from benchmarks.planted.kinds import SECTIONS  # noqa: E402
from benchmarks.planted.score import Secrets, strings  # noqa: E402

from coreloop import __version__  # noqa: E402
from coreloop.base.project.workspace import open_workspace  # noqa: E402
from coreloop.sanitize.run import export_records  # noqa: E402
from coreloop.sanitize.sanitize_record import MODES, Mode  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "masking.md"
N_SEEDS, VALUES = 3, 20
_SETTINGS = "sanitize: {names: companies.tsv, countries: [kr, us, uk, eu]}\n"
_EXAMPLES = 5  # of a kind
_BLOCK = re.compile(r"(<!-- figures: [^\n]*-->\n).*?(\n<!-- end of figures -->)", re.DOTALL)


def release_seeds() -> list[int]:
    """Seeds of the version, so that no release is measured on values that an earlier one was tuned on."""
    parts = [f"{__version__}/{n}" for n in range(N_SEEDS)]
    return [int(hashlib.sha256(part.encode()).hexdigest()[:8], 16) for part in parts]


def exported(samples: Iterable[Sample], mode: Mode) -> list[Any]:
    """The records as an export of them has them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "coreloop.yaml").write_text(_SETTINGS, encoding="utf-8")
        (folder / "companies.tsv").write_text(names_file(), encoding="utf-8")
        (folder / "in").mkdir()
        lines = [json.dumps(sample.record, ensure_ascii=False) + "\n" for sample in samples]
        (folder / "in" / "a.jsonl").write_text("".join(lines), encoding="utf-8")
        workspace, now = open_workspace(folder), datetime.now(UTC)
        done = export_records(workspace, mode, now=now, source=folder / "in", out=folder / "out")
        assert done.is_clean, done.to_json()
        texts = (folder / "out" / "records-0001.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in texts if line]


def missed(samples: Sequence[Sample], mode: Mode) -> list[tuple[Planted, Sample]]:
    """The values that can still be read; pseudonyms are random, so what is left is left with two keys."""
    found = list(readable(samples, exported(samples, mode)))
    if mode == "mask" or not found:
        return found
    suspects = [sample for _, sample in found]
    again = {id(planted) for planted, _ in readable(suspects, exported(suspects, mode))}
    return [pair for pair in found if id(pair[0]) in again]


def readable(samples: Sequence[Sample], outputs: Sequence[Any]) -> Iterator[tuple[Planted, Sample]]:
    """The planted values that can still be read.

    The time of the request counts only for a value that stands there: cut to the hour, ``T20:00:00``, it
    would hold the year 2000.
    """
    for sample, output in zip(samples, outputs, strict=True):
        texts = list(strings(output))
        without_time = list(strings({name: value for name, value in output.items() if name != "ts"}))
        for planted in sample.planted:
            secrets = Secrets(planted.value, planted.written)
            if any(
                secrets.are_in(text) for text in (texts if planted.place == "time field" else without_time)
            ):
                yield planted, sample


def replaced(samples: Sequence[Sample]) -> Iterator[Harmless]:
    """The look-alikes that `mask` does not leave as they were."""
    for sample, output in zip(samples, exported(samples, "mask"), strict=True):
        texts = [version for text in strings(output) for version in _with_json_inside(text)]
        yield from (like for like in sample.harmless if not any(like.text in text for text in texts))


def _with_json_inside(text: str) -> Iterator[str]:
    yield text
    if text.startswith("{"):
        try:
            inner = json.loads(text)
        except ValueError:
            return
        for part in strings(inner):
            yield from _with_json_inside(part)


def table(samples: Sequence[Sample]) -> Iterator[str]:
    """One row per group of kinds: planted values, missed ones by mode, and look-alikes replaced in vain."""
    planted = Counter((value.kind, value.form == PLAIN) for sample in samples for value in sample.planted)
    left = {
        mode: Counter((value.kind, value.form == PLAIN) for value, _ in missed(samples, mode))
        for mode in MODES
    }
    likes = Counter(like.like for sample in samples for like in sample.harmless)
    vain = Counter(like.like for like in replaced(samples))
    yield "| group | plain, encoded values | `mask` misses | `hash`, `drop` miss | look-alikes replaced |"
    yield "|---|---|---|---|---|"
    sections = [(title, [kind.name for kind in kinds]) for title, kinds in SECTIONS]
    for title, kinds in (*sections, ("all", [*{kind for kind, _ in planted}, ""])):
        plain, encoded = (sum(planted[kind, is_plain] for kind in kinds) for is_plain in (True, False))
        cells = [title, f"{plain:,}, {encoded:,}"]
        misses = {
            (mode, is_plain): sum(left[mode][kind, is_plain] for kind in kinds)
            for mode in MODES
            for is_plain in (True, False)
        }
        cells.append(f"{share(misses['mask', True], plain)}, {share(misses['mask', False], encoded)}")
        rest = sum(count for (mode, _), count in misses.items() if mode != "mask")
        cells.append(share(rest, 2 * (plain + encoded)))
        cells.append(share(sum(vain[kind] for kind in kinds), sum(likes[kind] for kind in kinds)))
        yield f"| {' | '.join(cells)} |"


def share(count: int, total: int) -> str:
    """A percentage; 0 only if it is nothing."""
    percent = 100 * count / (total or 1)
    return "0" if not count else f"{percent:.1f} %" if percent >= 0.1 else "<0.1 %"


def show_misses(samples: Sequence[Sample]) -> None:
    shown = Counter[str]()
    for value, _ in missed(samples, "mask"):
        shown[value.kind] += 1
        if value.form == PLAIN or shown[value.kind] <= _EXAMPLES:
            print(f"{value.kind} / {value.form} / {value.place}: {value.written!r}")
    for like, count in Counter((like.like, like.text) for like in replaced(samples)).most_common():
        print(f"like {like[0]}: {like[1]!r} {count}")
    print(dict(Counter(value.form for value, _ in missed(samples, "mask"))))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")])
    parser.add_argument("--values", type=int, default=VALUES, help="per kind, form and seed")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    if options.misses and not options.seeds:
        parser.error("--misses needs --seeds: who reads examples of the release's seeds has tuned to them")
    if options.update and (options.seeds or options.values != VALUES):
        parser.error("--update is for the release's seeds")
    seeds = options.seeds or release_seeds()
    samples = [sample for seed in seeds for sample in make_samples(seed, values=options.values)]
    if options.misses:
        show_misses(samples)
        return
    rows = "\n".join(table(samples))
    print(rows)
    if options.update:
        text = _BLOCK.sub(lambda block: f"{block[1]}\n{rows}\n{block[2]}", PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
