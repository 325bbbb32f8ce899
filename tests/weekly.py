"""Whether this is the weekly run, in which what costs most goes as far as it can."""

import os
from typing import Final

WEEKLY: Final = bool(os.environ.get("CORELOOP_WEEKLY"))
