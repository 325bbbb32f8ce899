import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coreloop.base.chosen_language import choose_language
from coreloop.base.messages import speaking
from rows import slow_after

KOREAN = {"LANG": "ko_KR.UTF-8"}


@pytest.mark.parametrize(
    ("arguments", "environ", "settings", "expected"),
    [
        ([], {}, "", "en"),
        ([], {"LANG": "C.UTF-8"}, "", "en"),
        ([], {"LANG": "ko_KR.UTF-8"}, "", "ko"),
        ([], {"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, "", "en"),  # LC_ALL is above LANG
        ([], {"LANG": "en_US.UTF-8", "LC_MESSAGES": "ko"}, "", "ko"),
        ([], {"LANG": "kok_IN"}, "", "en"),  # Konkani
        ([], {}, "language: ko\n", "ko"),
        ([], KOREAN, "language: en\n", "en"),
        ([], {}, "model: {language: ko}\n", "en"),  # a setting of another thing
        (["--language", "en"], KOREAN, "language: ko\n", "en"),
        (["--language=ko"], {}, "language: en\n", "ko"),
        (["report", "--language", "ko"], {}, "", "en"),  # an option of that command
        (["--language", "xx"], {}, "", "en"),  # click refuses it
    ],
)
def test_the_option_is_above_the_project_and_the_project_above_the_environment(
    arguments: list[str], environ: dict[str, str], settings: str, expected: str, tmp_path: Path
):
    (tmp_path / "coreloop.yaml").write_text(settings, "utf-8")
    (tmp_path / "inner").mkdir(exist_ok=True)
    assert choose_language(arguments, environ, tmp_path / "inner") == expected


def run(*words: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    command = [sys.executable, "-m", "coreloop", *words]
    return subprocess.run(
        command, cwd=folder, env=plain | environ, capture_output=True, text=True, check=False
    )


def test_help_and_its_headings_are_korean(tmp_path: Path):
    shown = run("--help", folder=tmp_path, **KOREAN).stdout
    assert shown.startswith("사용법: dartlab-coreloop")
    assert "이 도움말을 보여 줍니다." in shown
    shown = run("--language", "ko", "init", "--help", folder=tmp_path).stdout
    assert "저장소에 coreloop가 쓰는 파일을 넣습니다." in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["statsu"], 2, "'statsu' 명령은 없습니다; 혹시 status가 아닌가요?"),
        (["look", "absent"], 2, "absent"),
        (["refine", "--since", "soon"], 2, "날짜가 아닙니다"),
        (["promote"], 2, "승격할 것이 없습니다"),
    ],
)
def test_an_error_is_one_korean_line(words: list[str], code: int, message: str, tmp_path: Path, entry_point):
    with speaking("ko"):
        exited, _, errors = entry_point(tmp_path, *words)
    assert (exited, errors.count("\n")) == (code, 1)
    assert message in errors


def test_status_of_a_new_project_is_korean(tmp_path: Path, entry_point):
    with speaking("ko"):
        _, shown, _ = entry_point(tmp_path, "status")
    assert "아직 없음" in shown
    assert "records" not in shown


@pytest.mark.parametrize(
    "words",
    slow_after(
        2, ["doctor", "status", "effect", "refine", "pattern", "mine", "judge", "runs list", "jobs list"]
    ),
)
def test_json_is_the_same_in_both_languages(words: str, tmp_path: Path, entry_point):
    (tmp_path / "data" / "audit" / "ai-ask").mkdir(parents=True)
    entry_point(tmp_path, *words.split())  # what it writes the first time, it keeps
    english = entry_point(tmp_path, *words.split(), "--json")
    with speaking("ko"):
        korean = entry_point(tmp_path, *words.split(), "--json")
    assert english[0] == korean[0]
    assert without_times(english[1]) == without_times(korean[1])


def without_times(text: str) -> object:
    facts = json.loads(text) if text else None
    if isinstance(facts, dict):
        facts.pop("generated_at", None)
    return facts
