"""Processor time of masking hostile texts of 10, 100 and 1,000 KB (the shapes of tests/long_texts.py).

uv run python benchmarks/hostile_texts.py [KILOBYTES...]
"""

import sys
import time
from pathlib import Path

from coreloop.sanitize.find_in_text import find
from coreloop.sanitize.mask_text import sanitize_text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from long_texts import ALL_SIGNS, SHAPES


def seconds(text: str) -> float:
    begun = time.process_time()
    sanitize_text(text)
    return time.process_time() - begun


def main() -> None:
    sizes = [int(size) * 1000 for size in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    sanitize_text(ALL_SIGNS)  # compiles the patterns
    print("| shape |", " | ".join(f"{size // 1000:,} KB" for size in sizes), "| replaced whole |")
    for name, shape in SHAPES.items():
        times = " | ".join(f"{seconds(shape(size)):.2f} s" for size in sizes)
        whole = any(finding.kind == "TEXT" for finding in find(shape(sizes[0])))
        print(f"| {name} | {times} | {'yes' if whole else ''} |", flush=True)


if __name__ == "__main__":
    main()
