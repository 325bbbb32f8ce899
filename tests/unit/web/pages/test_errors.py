"""The table of errors: what ``refine`` saw last; a shared page has no text of an error."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from coreloop.base.date_range import Days
from coreloop.learn.refine.run import RefineRequest, run_refine
from coreloop.web.pages.errors import ERRORS, read_errors
from coreloop.web.pages.frame import Frame
from coreloop.web.pages.render import render
from coreloop.web.pages.source import open_source
from effects import FIRST_DAY, make_shop, write_days


def test_errors_are_listed_with_what_they_cost_and_shared_without_their_text(tmp_path: Path, quiet_git: None):
    shop = make_shop(tmp_path, ())
    with open_source(shop.workspace, {}) as source:
        empty = render("errors.html", Frame(section=ERRORS.name), read_errors(source))
    assert "dartlab-coreloop refine" in empty
    write_days(shop, (), range(4), calls=20)
    now = FIRST_DAY + timedelta(days=5)
    days = Days(FIRST_DAY.date(), now.date())
    errors = run_refine(shop.workspace, RefineRequest(days=days), now=now).refined.errors
    with open_source(shop.workspace, {}) as source:
        page = render("errors.html", Frame(section=ERRORS.name), read_errors(source))
        shared = render(
            "errors.html", Frame(section=ERRORS.name), read_errors(replace(source, is_shared=True))
        )
    texts = {row.error for row in errors if row.error}
    assert texts
    assert all(text in page for text in texts)
    assert not any(text in shared for text in texts)
    assert all(row.tool in shared for row in errors if row.n_cases >= 5)
