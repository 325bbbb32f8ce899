"""The sentences of proposed lines, in English and in Korean: read by whatever writes or parses a line."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Language = Literal["en", "ko"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")


class Wording(NamedTuple):
    """A sentence with slots; ``kind`` is empty for a form that is still read, but no longer proposed."""

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
    "first": Wording("", "First: {tool}", "먼저: {tool}"),
    "once": Wording("", "Call once per request", "요청마다 한 번만 호출"),
    "use_for": Wording("", "Use for: {keywords}", "용도: {keywords}"),
    "use_instead": Wording("", "For {keywords} use {tool}", "{keywords} 에는 {tool} 사용"),
    "call_before_same": Wording(
        "", "Call before {tool} (same {argument})", "{tool} 전에 호출 (같은 {argument})"
    ),
    "call_after_same": Wording(
        "", "Call after {tool} (same {argument})", "{tool} 후에 호출 (같은 {argument})"
    ),
    "not_right_after": Wording("", "Do not call right after {tool}", "{tool} 직후에 호출하지 않음"),
    "from_result": Wording("", "{argument}: only from an earlier result", "{argument}: 앞선 결과에서만"),
}
CONDITIONS: Final[Mapping[str, Wording]] = {
    "over": Wording("", "{argument} over {number}", "{argument} {number} 초과"),
    "under": Wording("", "{argument} under {number}", "{argument} {number} 미만"),
    "value": Wording("value", "{pair}", "{pair}"),
    "with": Wording("", "with {arguments}", "{arguments} 있음"),
    "without": Wording("", "without {arguments}", "{arguments} 없음"),
    "empty": Wording("", "{arguments} empty", "{arguments} 비어 있음"),
    "after_same": Wording("", "after {tool} (same {argument})", "{tool} 후 (같은 {argument})"),
    "before_same": Wording("", "before {tool} (same {argument})", "{tool} 전 (같은 {argument})"),
    "right_after": Wording("", "right after {tool}", "{tool} 직후"),
    "no_result": Wording("", "{argument} from no earlier result", "앞선 결과에 없는 {argument}"),
    "not_from": Wording("", "{argument} not from {paths}", "{paths} 에서 오지 않은 {argument}"),
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
ON_KEYWORDS: Final = Wording(
    "",
    "When: questions on {keywords} (category {category}).",
    "쓸 때: {keywords} 관련 질문 ({category} 분류).",
)
CALL: Final = Wording("", "Call: {calls}.", "호출: {calls}.")
"""The two lines of a Guide."""
FAILS: Final = Wording("value", "fails", "실패")
BOTH: Final = Wording("", " and ", " 그리고 ")
"""Between the two conditions of a line."""
