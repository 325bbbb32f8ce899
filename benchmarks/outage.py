"""Two services on one Postgres that is restarted under load: which requests fail, what is lost or doubled.

    uv run python benchmarks/outage.py [--seconds 300] [--restarts 2] [--clients 8] [--postgres 15]

No request may fail but with 503; each question must get one run, each run one record, and no step may be done
twice; the services must be back by themselves.
"""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from outages import restarted_under_load
from postgres_servers import newest, running_server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--postgres", default=None, help="major version; default: the newest installed")
    args = parser.parse_args()
    stops = list(itertools.islice(itertools.cycle(["fast", "immediate"]), args.restarts))
    with tempfile.TemporaryDirectory() as folder, running_server(args.postgres or newest()) as server:
        outcome = restarted_under_load(
            Path(folder), server, seconds=args.seconds, stops=stops, clients=args.clients
        )
    print(f"responses {dict(outcome.statuses)}, runs {len(outcome.records)}")
    print(f"longest time to an answer {outcome.longest_outage_s:.1f} s, log {dict(outcome.log)}")
    for name, value in outcome.problems.items():
        print(f"BROKEN {name}: {value}")
    sys.exit(bool(outcome.problems))


if __name__ == "__main__":
    main()
