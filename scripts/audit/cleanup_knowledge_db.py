"""The former name of ``dartlab-coreloop knowledge cleanup``; takes the same options."""

import sys

from coreloop.cli import run

if __name__ == "__main__":
    sys.argv[1:1] = ["knowledge", "cleanup"]
    run()
