"""A pattern that could take much longer than the text is refused."""

from bounded import bounded
from coreloop.base.project.settings_file import objection
from rows import each_row

ACCEPTED = [
    "EMP-[0-9]{6}",
    r"(?<![A-Z])[A-Z]{2}-?[0-9]{4}(?![0-9])",
    r"[\w.]{1,64}@corp\.example",
    "(?i)case (?P<value>[0-9a-f]{8})",
    "(?:[0-9]{4}[- ]?){4}",
    "a|b?c",
]
REFUSED = {
    "(a+)+b": "without a limit",
    "a*b": "without a limit",
    "[0-9]{3,}": "without a limit",
    "x(?=.*y)": "without a limit",
    "(a{1,40}){1,40}b": "nested",
    "(a|aa){1,60}b": "nested",
    "a{0,99}a{0,99}a{0,99}b": "nested",
    "a?": "empty",
    "(": "not a regular expression",
    "": "empty",
}


@each_row("pattern", ACCEPTED)
def test_a_bounded_pattern_is_accepted(pattern: str) -> None:
    assert objection(pattern) is None


@each_row(("pattern", "reason"), REFUSED.items())
def test_a_pattern_without_bounds_is_refused(pattern: str, reason: str) -> None:
    assert reason in (objection(pattern) or "")


def test_a_pattern_is_judged_at_once() -> None:
    with bounded():
        objection("(" * 40 + "a{1,9}" + "){1,9}" * 40)
