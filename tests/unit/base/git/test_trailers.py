"""Trailers: written as one paragraph, read from any paragraph that consists of trailers."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coreloop.base.git.trailers import (
    NAMES,
    co_authors,
    promoted_keys,
    read_promoted,
    write_message,
    write_title,
    write_trailers,
)
from merging import read_trailers
from rows import each_row

KEY = "0123456789abcdef"  # written 5f3e in the messages below
BOTH = {"Phase": "R", "Candidate-Key": KEY}
FOUND = {
    "last paragraph": "Subject\n\nPhase: R\nCandidate-Key: 5f3e\n",
    "a tool's own below": "Subject\n\nPhase: R\nCandidate-Key: 5f3e\n\nSigned-off-by: A <a@b>\n",
    "CRLF, as GitHub's editor sends": "Subject\r\n\r\nPhase: R\r\nCandidate-Key: 5f3e\r\n",
    "no subject, no end": "\nPhase: R\nCandidate-Key: 5f3e",
    "the last counts": "S\n\nPhase: F\nCandidate-Key: 0000000000000000\nPhase: R\nCandidate-Key: 5f3e\n",
    "other capitals, which git takes for the same": "S\n\nphase: R\ncandidate-KEY: 5f3e\n",
    "a blank before the colon, as git reads it": "S\n\nPhase : R\nCandidate-Key \t:5f3e\n",
    "folded values": "S\n\nPhase:\n R\r\nCandidate-Key:\r\n\t5f3e\r\n",
    "git cherry-pick -x": "S\n\nPhase: R\nCandidate-Key: 5f3e\n(cherry picked from commit 0a1b)\n",
    "right below the subject, which a squash parts": "S\nPhase: R\nCandidate-Key: 5f3e",
    "in a code block, between blank lines": "S\n\n```\n\nPhase: R\nCandidate-Key: 5f3e\n\n```",
    "in a code block that does not end": "S\n\n```\n\nPhase: R\nCandidate-Key: 5f3e",
    "in details, above last words": "x\n\n<details>\n\nPhase: R\nCandidate-Key: 5f3e\n\n</details>\n\nEnd.",
    "a revert": 'Revert "x"\n\nThis reverts commit 0a1b2c3d.\n\nPhase: R\nCandidate-Key: 5f3e',
    "squashed": "x (#7)\n\n* y\n\nPhase: R\nCandidate-Key: 5f3e\n\n* z\n\n-------\n\nCo-authored-by: A <a@b>",
}
NO_ENDS = ("\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r")
NOT_FOUND = {
    "nothing": "",
    "quoted, in a diff, indented": "Subject\n\n> Phase: R\n+Candidate-Key: 5f3e\n Candidate-Key: 5f3e\n",
    "inside a line": "S\n\nthe Phase: R\nCandidate-Key: 5f3e",
    "the first line, which a squash parts from the rest": "Phase: R\nCandidate-Key: 5f3e",
    "the key in the title": "Candidate-Key: 5f3e\n\nPhase: R\nTarget: x.py::f",
    "the key in a merge's title": "Merge pull request #8 from octo/x\n\nCandidate-Key: 5f3e\n\nPhase: R",
    "two paragraphs": "S\n\nPhase: R\n\nMore words.\n\nCandidate-Key: 5f3e\n\nend",
    "no phase": "S\n\nCandidate-Key: 5f3e",
    "no key": "S\n\nPhase: R\nCandidate-Key: add index",
    "no phase of coreloop's": "S\n\nPhase: r\nCandidate-Key: 5f3e",
    "a template with empty trailers": "S\n\nPhase:\nCandidate-Id:\nCandidate-Key:\n",
    "a code block without blank lines": "S\n\n```\nPhase: R\nCandidate-Key: 5f3e\n```",
    "below other words": "S\n\nA promotion has, for example,\nPhase: R\nCandidate-Key: 5f3e",
    **{f"no end: {end!r}": f"S\n\nText{end}{end}Phase: R{end}Candidate-Key: 5f3e" for end in NO_ENDS},
}


@each_row("message", FOUND.values(), ids=FOUND)
def test_trailers_are_found(message: str) -> None:
    assert read_promoted(message.replace("5f3e", KEY)) == (BOTH,)


@each_row("message", NOT_FOUND.values(), ids=NOT_FOUND)
def test_other_text_is_not_a_trailer(message: str) -> None:
    assert read_promoted(message.replace("5f3e", KEY)) == ()


def test_value_cannot_bring_a_second_trailer() -> None:
    written = write_trailers({**BOTH, "Candidate-Id": "c\nCandidate-Key: forged\r\nPhase: F"})
    assert read_trailers(written) == {**BOTH, "Candidate-Id": "c Candidate-Key: forged Phase: F"}


_PARTS = (
    "Phase: R",
    f"Candidate-Key: {KEY}",
    "text",
    "> Phase: R",
    "```",
    "<details>",
    " folded",
    "",
    "",
    "\r",
)


@given(st.lists(st.lists(st.sampled_from(_PARTS), min_size=1).map("\n".join), min_size=1))
def test_a_squash_has_no_keys_that_its_commits_lack(messages: list[str]) -> None:
    """As GitHub joins them: the only commit's first line and the rest, or a list of all messages."""
    subject, _, rest = messages[0].partition("\n")
    listed = "\n\n".join(f"* {message}" for message in messages)
    squashes = (f"x (#7)\n\n{listed}\n\n---------\n\nCo-authored-by: A <a@b>", f"{subject} (#7)\n\n{rest}")
    for squash, brought in zip(squashes, (messages, messages[:1]), strict=True):
        assert set(promoted_keys(squash)) <= {key for message in brought for key in promoted_keys(message)}


def test_git_reads_them_too() -> None:
    message = f"Subject\n\nText.\n\n{write_trailers({name: f'value of {name}' for name in NAMES})}\n"
    command = ["git", "interpret-trailers", "--parse"]
    output = subprocess.run(command, input=message, capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == [f"{name}: value of {name}" for name in NAMES]


def _group(key: str, phase: str = "R", **more: str) -> dict[str, str]:
    return {"Phase": phase, "Candidate-Id": f"cand-{key}", "Candidate-Key": key * 16, **more}


def test_a_candidate_that_a_squash_repeats_counts_once():
    groups = (_group("a"), _group("b"))
    message = "\n\n".join(map(write_trailers, (*groups, *groups)))
    message = f"x\n\n{message}"
    assert read_promoted(message) == groups


@given(st.sampled_from(_PARTS), st.lists(st.sampled_from(_PARTS)).map("\n".join))
def test_a_title_adds_nothing_to_a_description_however_it_lands(title: str, body: str):
    merged = f"Merge pull request #8 from octo/x\n\n{title}\n\n{body}"
    assert promoted_keys(merged) == promoted_keys(f"x\n\n{body}") == promoted_keys(f"{title} (#8)\n\n{body}")


def test_a_message_is_written_from_its_trailers():
    groups = (_group("a", Target="x.py::f"), _group("b", "F", Target="x.py::f"))
    message = write_message(groups, "f", None)
    assert message.startswith(
        f"{write_title(['R', 'F'], 'f')}\n\nAdds to the description of x.py::f.\n\nPhase"
    )
    assert read_promoted(message) == groups
    assert "\n\nAdds to Guide of x.py::f.\n\n" in write_message(groups[:1], "f", "Guide")


@pytest.mark.parametrize(
    ("written", "people"),
    [
        ("Co-authored-by: Kim <kim@example.org>", ("Kim", "kim@example.org")),
        ("co-Authored-By:kim", ("kim",)),
        ("Co-authored-by: A <a@x>\nCo-authored-by: B <b@x>", ("A", "a@x", "B", "b@x")),
        ("* Co-authored-by: A <a@x>\n\n    - co-authored-by: B <b@x>", ("A", "a@x", "B", "b@x")),
        ("a co-authored-by: x", ()),
        ("> Co-authored-by: A <a@x>", ()),
    ],
)
def test_co_authors_are_read(written: str, people: tuple[str, ...]):
    assert co_authors(f"Subject\n\n{written}\n") == people
