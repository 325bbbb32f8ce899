"""Sanitizing under the name that maintainers know: ``dartlab-coreloop sanitize`` with the same options."""

import sys

from coreloop.cli import run

if __name__ == "__main__":
    sys.argv[1:1] = ["sanitize"]
    run()
