"""What a command prints by default fits on one screen; -v shows the rest."""

from pathlib import Path

import pytest

from coreloop.cli.show_effect import show_effects
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


def test_tools_without_a_definition_are_one_line(capsys: pytest.CaptureFixture[str]):
    unknown = {f"tool_{n:02}": "no definition" for n in range(40)}
    show_effects(Effects((), unknown), as_json=False)
    out, errors = capsys.readouterr()
    assert len(out.splitlines()) == 2
    wanted = "left out: tool_00, tool_01, tool_02 and 37 more (-v lists them): no definition"
    assert " ".join(errors.split()) == wanted
    show_effects(Effects((), unknown), as_json=False, is_verbose=True)
    assert "tool_39" in capsys.readouterr().err
