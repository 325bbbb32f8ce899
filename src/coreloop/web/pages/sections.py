"""The sections of the pages, in the order of the navigation."""

from typing import Final

from coreloop.web.pages.changes import CHANGES
from coreloop.web.pages.errors import ERRORS
from coreloop.web.pages.health import HEALTH
from coreloop.web.pages.page_data import PageSection
from coreloop.web.pages.review import REVIEW
from coreloop.web.pages.runs import RUNS
from coreloop.web.pages.tools import TOOLS
from coreloop.web.pages.work import WORK

SECTIONS: Final[tuple[PageSection, ...]] = (CHANGES, ERRORS, REVIEW, HEALTH, RUNS, TOOLS, WORK)
