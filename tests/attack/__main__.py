"""Try every attack and print a table: held or broken. The exit code is 1 if one is broken.

cd tests && uv run python -m attack
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from attack import doubtful, kills, raw_http, ssrf, strings
from attack.case import Attack
from fault_server import fault_server
from serving import UNBOUNDED, served


def tried(folder: Path) -> Iterator[tuple[Attack, str]]:
    """Try them one after another; yields each with what went wrong."""
    with served(folder / "project", bounds=UNBOUNDED) as service:
        for attack in (*raw_http.attacks(service), *doubtful.attacks(service), *strings.attacks(service)):
            yield attack, attack.broken()
    for attack in kills.attacks(folder / "project"):
        yield attack, attack.broken()
    with fault_server() as server, ssrf.canary(server.port) as caught:
        for attack in ssrf.attacks(server, caught):
            yield attack, attack.broken()


def main() -> int:
    counts: Counter[tuple[str, bool]] = Counter()
    with TemporaryDirectory() as folder:
        (Path(folder) / "project").mkdir()
        for attack, broken in tried(Path(folder)):
            counts[attack.kind, not broken] += 1
            print(
                f"{'broken' if broken else 'held  '} {attack.kind:<9} {attack.name}{broken and f': {broken}'}"
            )
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(f"{kind}: {counts[kind, True]} held, {counts[kind, False]} broken")
    return int(any(not is_held for _, is_held in counts))


if __name__ == "__main__":
    sys.exit(main())
