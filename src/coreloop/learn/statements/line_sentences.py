"""The sentences of proposed lines, in English and in Korean: read by whatever writes or parses a line."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Language = Literal["en", "ko"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")


class Wording(NamedTuple):
    """A sentence with slots; ``kind`` is empty for another wording of a form."""

    kind: str
    en: str
    ko: str

    def sentence(self, language: Language) -> str:
        """The sentence in a language."""
        return self.en if language == "en" else self.ko


WORDINGS: Final[Mapping[str, Wording]] = {
    "always_pass": Wording("presence", "Always pass {arguments}", "항상 전달: {arguments}"),
    "leave_out": Wording("presence", "Leave out {arguments}", "전달하지 않음: {arguments}"),
    "never_empty": Wording("presence", "{arguments}: never empty", "{arguments}: 비워 두지 않음"),
    "one_of": Wording("value", "{argument}: one of {values}", "{argument}: 다음 중 하나 {values}"),
    "at_most": Wording("value", "{argument}: at most {number}", "{argument}: 최대 {number}"),
    "at_least": Wording("value", "{argument}: at least {number}", "{argument}: 최소 {number}"),
    "only_while": Wording(
        "state", "{argument}: only while {field} is {states}", "{argument}: {field} 값이 {states} 일 때만"
    ),
    "written": Wording("shape", "{argument}: {shape}", "{argument}: {shape}"),
    "prefix": Wording("shape", "{argument}: begins with {prefix}", "{argument}: 접두사 {prefix}"),
    "items": Wording("shape", "{argument}: at most {number} items", "{argument}: 최대 {number}개 항목"),
    "characters": Wording("shape", "{argument}: at most {number} characters", "{argument}: 최대 {number}자"),
    "before": Wording("shape", "{argument}: before {other}", "{argument}: {other} 보다 앞"),
    "call_first": Wording(
        "precondition", "Call {tool} first (same {argument})", "먼저 {tool} 호출 (같은 {argument})"
    ),
    "source": Wording("source", "{argument}: from {paths}", "{argument}: 출처 {paths}"),
    "fails": Wording("value", "{pair} fails", "{pair} 실패"),
    "over_fails": Wording("", "{argument} over {number} fails", "{argument} {number} 초과 실패"),
    "with_fails": Wording("", "with {arguments} fails", "{arguments} 있음 실패"),
    "without_fails": Wording("", "without {arguments} fails", "{arguments} 없음 실패"),
    "empty_fails": Wording("", "{arguments} empty fails", "{arguments} 비어 있음 실패"),
}
SHAPES: Final[Mapping[str, str]] = {
    "as YYYY-MM-DD": "YYYY-MM-DD 형식",
    "a whole number": "정수",
    "an absolute path": "절대 경로",
    "in upper case": "대문자",
    "in lower case": "소문자",
    "a list": "목록",
    "no word such as null": "null 같은 단어 아님",
}
"""What the slot ``shape`` may hold, with its Korean."""
NO_CATEGORY: Final = Wording("", "When: questions of no category.", "쓸 때: 분류 없는 질문.")
OF_CATEGORY: Final = Wording("", "When: questions of category {category}.", "쓸 때: {category} 분류의 질문.")
CALL: Final = Wording("", "Call: {calls}.", "호출: {calls}.")
"""The two lines of a Guide."""
