"""What ``sanitize`` misses and what it replaces in vain, on records that nobody tuned it on.

    uv run python benchmarks/privacy.py            # the tables, on this release's three seeds
    uv run python benchmarks/privacy.py --update   # and write them into docs/reference/masking.md
    uv run python benchmarks/privacy.py --others   # first measure Presidio and scrubadub (minutes)
    uv run python benchmarks/privacy.py --seeds 1,2 --misses FILE    # examples, for work on the detectors
    uv run python benchmarks/privacy.py --generator MODULE           # of another generator
    uv run python benchmarks/privacy.py --generator benchmarks.planted_again --update    # only its tables
    uv run python benchmarks/privacy.py --ablation # what each heuristic earns
    uv run python benchmarks/privacy.py --times    # multiples of json.loads

Plants values of every kind (`benchmarks.planted`), exports the records in each mode and looks for what can
still be read. ``--seeds`` and ``--values`` change the records, ``--without NAME`` switches a heuristic off.
Another generator has `make_samples` and `names_file` as `benchmarks.planted` has.
"""

import argparse
import hashlib
import importlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.measured import heuristics, misses, others, tables, times  # noqa: E402 - needs the path above
from benchmarks.measured.exports import exported  # noqa: E402
from benchmarks.measured.scores import Result, readable, replaced, result_of_mode  # noqa: E402
from benchmarks.planted import PLAIN, Sample  # noqa: E402

from coreloop import __version__  # noqa: E402
from coreloop.sanitize.sanitize_record import Mode  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "masking.md"
SECOND = "benchmarks.planted_again"
MODES: tuple[Mode, ...] = ("mask", "hash", "drop")
N_SEEDS = 3
VALUES = 20


def release_seeds(generator: str = "") -> list[int]:
    """Seeds of the version, so that no release is measured on values that an earlier one was tuned on."""
    parts = [f"{__version__}{generator}/{n}" for n in range(N_SEEDS)]
    return [int(hashlib.sha256(part.encode()).hexdigest()[:8], 16) for part in parts]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")])
    parser.add_argument("--values", type=int, default=VALUES, help="per kind, form and seed")
    parser.add_argument("--generator", type=importlib.import_module, default="benchmarks.planted")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--misses", type=Path)
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--json", action="store_true", help="only what mask misses")
    parser.add_argument("--without", choices=list(heuristics.HEURISTICS))
    options = parser.parse_args()
    if options.misses and not options.seeds:
        parser.error("--misses needs --seeds: who reads examples of the release's seeds has tuned to them")
    is_own = options.generator.__name__ in {"benchmarks.planted", SECOND}
    if options.update and (options.seeds or options.without or options.values != VALUES or not is_own):
        parser.error("--update is for the release's seeds and records, with everything on")
    return options


def show_tables(samples: Sequence[Sample], options: argparse.Namespace) -> None:
    names = options.generator.names_file()
    results = {mode: result_of_mode(samples, mode, names=names) for mode in MODES}
    tallies = {tool: result.tally() for tool, result in results.items()}
    compared = others.measure(samples) if options.others else others.kept(samples)
    if not compared:
        print("Presidio and scrubadub are not measured on these records: add --others", file=sys.stderr)
    forms = Counter(planted.form for planted, _ in results["mask"].missed)
    blocks = {
        "figures": "\n\n".join(
            "\n".join(rows)
            for rows in (
                tables.summary(samples, tallies | compared),
                tables.by_kind(samples, tallies | compared),
                tables.by_disguise(samples, forms),
            )
        ),
        "kinds": "\n".join(tables.kinds()),
        "disguises": "\n".join(tables.forms()),
    }
    print(blocks["figures"])
    if options.update:
        tables.update(PAGE, blocks)
        show_second(options)
        print(f"wrote {PAGE}", file=sys.stderr)


def show_second(options: argparse.Namespace) -> None:
    """Print the tables of the second generator, on three other seeds."""
    generator = importlib.import_module(SECOND)
    seeds = options.seeds or release_seeds(SECOND)
    samples = [sample for seed in seeds for sample in generator.make_samples(seed, values=options.values)]
    names = generator.names_file()
    tallies = {mode: result_of_mode(samples, mode, names=names).tally() for mode in MODES}
    rows = [*tables.summary(samples, tallies), "", *tables.by_kind(samples, tallies)]
    print("\n".join(rows))
    if options.update:
        tables.update(PAGE, {"second": "\n".join(rows)})


def write_misses(samples: Sequence[Sample], path: Path, names: str) -> None:
    lines = ["# What is missed", "", "Each example: form / place: the text in the record.", ""]
    for mode in MODES:
        result = result_of_mode(samples, mode, names=names)
        lines += [f"## {mode}", "", *misses.missed(samples, result), ""]
        if mode == "mask":
            lines += ["### Look-alikes that mask replaces", "", *misses.replaced(samples, result), ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def show_json(samples: Sequence[Sample]) -> None:
    """Print what mask misses, and the processor time of its export; for a run without a heuristic."""
    begun = time.process_time()
    outputs = exported(samples, "mask")
    seconds = time.process_time() - begun
    result = Result(list(readable(samples, outputs)), list(replaced(samples, outputs)))
    plain = sum(planted.form == PLAIN for planted, _ in result.missed)
    counts = {"plain": plain, "disguised": len(result.missed) - plain, "look_alikes": len(result.replaced)}
    print(json.dumps(counts | {"seconds": round(seconds, 2)}))


def show_ablation(options: argparse.Namespace, seeds: Sequence[int]) -> None:
    """Run mask without each heuristic, each in a process of its own."""
    print("| without | missed plain | missed disguised | look-alikes replaced | processor time |")
    print("|---|---|---|---|---|")
    command = [
        sys.executable,
        __file__,
        "--values",
        str(options.values),
        "--seeds",
        ",".join(map(str, seeds)),
    ]
    for name in ("nothing", *heuristics.existing()):
        chosen = [] if name == "nothing" else ["--without", name]
        done = subprocess.run([*command, "--json", *chosen], check=True, capture_output=True, text=True)
        run = json.loads(done.stdout)
        print(f"| {name} | {run['plain']} | {run['disguised']} | {run['look_alikes']} | {run['seconds']} s |")


def main() -> None:
    options = arguments()
    if options.generator.__name__ == SECOND and not (options.misses or options.json):
        show_second(options)
        return
    seeds = options.seeds or release_seeds()
    if options.without:
        heuristics.switch_off(options.without)
    if options.times:
        print("\n".join(times.report(seeds[0], options.values)))
        return
    if options.ablation:
        show_ablation(options, seeds)
        return
    samples = [
        sample for seed in seeds for sample in options.generator.make_samples(seed, values=options.values)
    ]
    if options.json:
        show_json(samples)
    elif options.misses:
        write_misses(samples, options.misses, options.generator.names_file())
    else:
        show_tables(samples, options)


if __name__ == "__main__":
    main()
