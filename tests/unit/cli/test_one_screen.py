"""What a command prints by default fits on one screen; -v shows the rest."""

from pathlib import Path

import pytest

from coreloop.answer.research.answer import AnswerPassage
from coreloop.cli.effect import effects_lines, unknown_lines
from coreloop.cli.excerpt import excerpt
from coreloop.learn.effect.run import Effects
from repairing import RETURN_QUESTION, RETURNS, limit_paths, shop

SCREEN = 24


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project whose sections are longer than a screen."""
    limit_paths(tmp_path, "docs")
    shop(tmp_path, indexed=())
    rows = "\n".join(f"- Parcel size {n} costs {n} coins to return." for n in range(40))
    (tmp_path / "docs" / "returns.md").write_text(f"{RETURNS}\n{rows}\n", encoding="utf-8")
    return tmp_path


def test_an_answer_is_cut_around_what_says_it(place: Path, entry_point):
    code, out, errors = entry_point(place, "ask", RETURN_QUESTION)
    assert code == 0
    assert len(out.splitlines()) <= SCREEN
    assert "    »A parcel can be returned within 30 days after delivery.«" in out.splitlines()
    assert any(line.endswith(" …") for line in out.splitlines())
    assert "-v shows the whole passages\n" in errors
    _, whole, errors = entry_point(place, "ask", "-v", RETURN_QUESTION)
    assert "Parcel size 20 " in whole
    assert "…" not in whole
    assert "-v shows" not in errors


def test_places_of_a_question_that_nothing_answers_are_listed_as_search_lists_them(place: Path, entry_point):
    for n in range(8):
        (place / "docs" / f"size{n}.md").write_text(f"# Size {n}\n\n{'Parcels vary. ' * 90}\nA warehouse.\n")
    question = "Who founded the warehouse of the parcels?"
    code, out, _ = entry_point(place, "ask", question)
    assert (code, len(out.splitlines()) <= SCREEN) == (1, True)
    listed = out.partition("also found:\n")[2].splitlines()
    assert len(listed) == 4
    assert "warehouse" in listed[1]
    _, found, _ = entry_point(place, "search", question)
    assert set(listed) <= set(found.splitlines())


def test_tools_without_a_definition_are_one_line():
    effects = Effects((), {f"tool_{n:02}": "no definition" for n in range(40)})
    assert len([*effects_lines(effects)]) == 2
    wanted = "left out: tool_00, tool_01, tool_02 and 37 more (-v lists them): no definition"
    assert " ".join(" ".join(unknown_lines(effects, is_verbose=False)).split()) == wanted
    assert "tool_39" in "".join(unknown_lines(effects, is_verbose=True))


def test_an_excerpt_cuts_a_long_line_around_the_mark():
    text = "word " * 200 + "It costs 5 coins." + " word" * 200
    start = text.index("It costs")
    place = {"id": "[1]", "title": "Costs", "location": "a.md", "type": "markdown"}
    shown = AnswerPassage(text=text, start=start, end=start + 17, **place)
    (line,) = excerpt(shown, 4)
    assert "»It costs 5 coins.«" in line
    assert len(line) < 400
