import pickle
import re
import string

import orjson
import pytest

import messages as code
from coreloop.base import messages
from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.messages import Phrase, catalogue, in_korean, join, number_of, say, speak, text_of
from rows import each_row

HANGUL = re.compile("[가-힣]")
WORDS = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]{2,}){2,}")
"""Three English words in a row: no name, no command, no field."""
COMMANDS = re.compile(
    r"dartlab-coreloop[^;:)]*|[`\"'].*?[`\"']|git [a-z-]+[^;:,]*|promote --\S+ \{\w+\}|with \w+\(.*?:"
    r"|runs (?:un)?install [a-z-]+"
)
KOREAN = code.SOURCE / "base" / "korean"
ENOUGH = 0.95
"""The share of the messages of commands, of rooms and of help that must have Korean."""
ROOMS = (
    *("base", "cli", "admin", "runs", "web", "answer/models", "answer/search", "answer/agent"),
    *("promote", "descriptions", "learn", "sanitize", "observe"),
)


@pytest.fixture
def korean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_spoken", "ko")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def is_template(english: str) -> bool:
    """Whether it is filled in: help and other plain texts may show braces."""
    try:
        return bool(fields(english)) and all(name.isidentifier() for name in fields(english))
    except ValueError:
        return False


def test_every_korean_message_is_korean_and_its_english_is_not():
    # a message of nothing but fields and names has no Korean
    for english, korean in catalogue().items():
        assert not HANGUL.search(english), english
        assert HANGUL.search(korean) or not WORDS.search(COMMANDS.sub("", english)), english
        assert not WORDS.search(COMMANDS.sub("", re.sub(r"\{[^}]*\}", "", korean))), korean


def test_the_code_says_nothing_in_korean():
    assert [text for text in code.messages() | code.help_texts() if HANGUL.search(text)] == []


def test_screens_say_proposal():
    """Candidate and counterexample name files and keys of JSON, and what a research may search for."""
    word = re.compile(r"(?<![-/\w])(?:candidate|counterexample)s?\b(?! file)")
    texts = code.messages() | code.help_texts() | catalogue().keys()
    said = {english for english in texts if word.search(english)}
    assert {
        english for english in said if "search" not in english and "sub_questions" not in english
    } == set()


def test_a_message_and_its_korean_have_the_same_fields():
    for english, korean in catalogue().items():
        if english in code.messages() and is_template(english):
            assert fields(english) - {"verb"} == fields(korean), english  # "has" or "have", "was" or "were"


def test_a_message_is_in_one_file():
    lines = [line for file in KOREAN.glob("*.yaml") for line in file.read_text("utf-8").splitlines()]
    assert len(lines) == len(catalogue())


def test_every_message_of_the_catalogue_is_used():
    used = code.constants() | code.help_texts()
    unused = [key for key in catalogue() if key not in used and key.removeprefix("{n} ") not in used]
    assert unused == []


@each_row("room", ["", *ROOMS])
def test_nearly_all_that_commands_and_help_say_has_korean(room: str):
    said = code.messages(room) if room else code.help_texts()
    assert len(said & catalogue().keys()) / len(said) >= ENOUGH, sorted(said - catalogue().keys())


def test_a_message_without_korean_stays_english(korean: None):
    assert say("no such message of {n}", n=3) == "no such message of 3"


def test_what_a_user_wrote_is_not_translated(korean: None):
    assert say("left out: {reason}", reason="failed") == "제외: failed"
    assert say("left out: {reason}", reason=Phrase("failed")) == "제외: 실패"


def test_a_number_has_its_counter(korean: None):
    assert say(number_of(2_000, "record")) == "기록 2,000건"
    assert str(number_of(1, "record")) == "1 record"
    assert str(number_of(2_000, "record")) == "2,000 records"
    assert say(join([number_of(1, "record"), number_of(2, "file")])) == "기록 1건, 파일 2개"


def test_an_error_is_english_as_text_and_korean_when_it_is_said():
    error = WorkspaceError(Phrase("cannot be read ({strerror})", strerror="No such file"), path="a.json")
    assert str(error) == "a.json: cannot be read (No such file)"
    assert in_korean(text_of(error)) == "a.json: 읽을 수 없습니다 (No such file)"
    around = UsageError(Phrase("not checked: {error}", error=error))
    assert in_korean(text_of(around)) == "검사하지 않음: a.json: 읽을 수 없습니다 (No such file)"


def test_a_message_is_its_english_for_files_and_other_processes():
    message = Phrase("holds no {kind}", kind="candidates")
    assert orjson.dumps({"why": message}) == b'{"why":"holds no candidates"}'
    assert in_korean(pickle.loads(pickle.dumps(message))) == "candidates가 없습니다"


def test_braces_without_values_are_letters(korean: None):
    todo = "set forge: {repo: owner/name} in coreloop.yaml"
    assert say(Phrase(todo)) == "coreloop.yaml에 forge: {repo: owner/name}을 설정하세요"


def test_a_text_of_a_file_is_said_in_korean(korean: None):
    assert say("compared with 3 tools that did not change") == "바뀌지 않은 도구 3개와 비교했습니다"
    assert say(Phrase("1,204 records")) == "기록 1,204건"
    assert say(str(Phrase("{file} is not a Python file", file="a.txt"))) == "a.txt: Python 파일이 아닙니다"
    assert say("records are not a Python file") == "records are not a Python file"
    assert say("calls is not a Python file") == "calls: Python 파일이 아닙니다"


def test_english_reads_no_catalogue(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(messages, "catalogue", lambda: pytest.fail("read"))
    speak("en")
    assert say("wrote {path}", path="a") == "wrote a"
