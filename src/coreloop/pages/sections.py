"""The sections of the pages, in the order of the navigation."""

from typing import Final

from coreloop.pages.health import HEALTH
from coreloop.pages.review import REVIEW
from coreloop.pages.runs import RUNS
from coreloop.pages.section import Section
from coreloop.pages.tools import TOOLS
from coreloop.pages.work import WORK

SECTIONS: Final[tuple[Section, ...]] = (REVIEW, HEALTH, RUNS, TOOLS, WORK)
