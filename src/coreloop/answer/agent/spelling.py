"""Korean in one spelling: what the press, an office and a chat write differently and mean alike."""

import re
from typing import Final

_COPULA: Final = r"(?:이었습니다|이었으며|이었다|였습니다|였다|입니다|이며|이고|이다)(?![가-힣])"
_LIGHT: Final = r"(?:기록|달성|거[뒀둔]|거두었|집계)"
_EARNED: Final = r"(?<=매출|이익|수익|실적| 원)"
_SPELLINGS: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"['’](?=\d\d년)|(?<![\d'’.,])(?=[12]\d년\s?(?:[1-4]\s?분기|\d{1,2}월))", "20"),  # '25년, 25년 3분기
        (r"(?<!\d)([1-4])\s?Q(?![A-Za-z\d])", r"\1분기"),
        (r"(?<![\d가-힣])1년 전(?=보다|에 비해| 대비|과 비교)", "전년"),
        (r"(?<=\d)\s?\(\s?((?:조|억|만|천|백만)?\s?(?:원|명|%|건|개|곳|달러))\s?\)", r"\1"),  # 812(억 원)
        (
            r"(?<=\d)((?:조|천억|억|천만|백만|만|천)?)(?:\s?)(?=원(?:이|을|은|의|으로|에|과|까지|보다|[\s,.)]|$))",
            r"\1 ",
        ),
        (r"(?:%|퍼센트)\s?포인트", "%p"),
        (r"(?<=\d)\s?퍼센트", "%"),
        (r"(?<![가-힣])(?:약|대략|총|모두|무려|합계)\s(?=\d)", ""),
        (r"(?<![가-힣])(?:이 가운데|그 가운데|이 중|그중|가운데)(?=\s)", "중"),
        (rf"으?로\s{_LIGHT}[가-힣]*", ""),
        (rf"[을를]\s{_LIGHT}(?:하[였]|했|되[었]|됐|했|였)?(?:다|음|습니다|어요)(?=[\s.]*$)", ""),
        (rf"{_EARNED}[을를]\s올렸(?:다|음|습니다|어요)(?=[\s.]*$)", ""),
        (r"(?<=\d)(.{0,6}?원|%|명)\s기록(?=[\s.]*$)", r"\1"),
        (r"(?<=[가-힣]\s)(?:금액|규모|수치|주체)(?=[은는이가]\s)", "것"),  # 유치한 금액은
        (r"(?<=에서)는(?=\s)", ""),
        (r"(?<![가-힣])([가-힣]{2,12})[은는이가]\s발생하지\s?(?=않)", r"\1되지 "),  # 유출은 발생하지 않았다
    )
)
_ENDINGS: Final = (
    (re.compile(r"(?:하였|했)(?:다|음|습니다|으며|고)(?![가-힣])"), "하다"),
    (re.compile(rf"(?<=[가-힣a-z\d%)]){_COPULA}", re.IGNORECASE), ""),
    (re.compile(r"(?<=[가-힣]{2}|[a-zA-Z\d%)]{2})임(?=[\s.]*$)"), ""),  # 수도임; not: 책임, 게임
    (re.compile(r"(?<=[가-힣]{2})함(?=[\s.]*$)"), "하다"),  # 발원함
    (re.compile(r"(?<=[가-힣]{2})됨(?=[\s.]*$)"), "되다"),
    (re.compile(r"(?<=[년월일기])에(?![가-힣])"), ""),
    (re.compile(r"(?:되었|됐)(?:다|음|습니다|으며|고)(?![가-힣])"), "되다"),
)
"""What a Korean says in another style: ``494km이다``, ``494 km입니다``, ``494km임``."""
_STYLE: Final = re.compile(r"(?:(?P<polite>[가-힣])니|(?P<present>[가-힣]))다(?![가-힣])")
_NIEUN, _BIEUP = 4, 17
"""Final consonants, counted from none."""
_AFTER_AMOUNT: Final = re.compile(
    r"((?<=[\d조억만천백])\s?(?:원|명|개|곳|건|%p|%|달러|km|배|위))"
    r"(?:으로|이라고|라고|에서|부터|까지|보다|의|을|를|이|가|은|는|로|에|과|와)(?=[\s,.)]|$)"
)
_BLANK: Final = re.compile(r"(?<=[가-힣]) | (?=[가-힣])")


def without_blanks(text: str) -> str:
    """Return a text on one line, without the blanks beside Hangul: 1,500억 원 is 1,500억원."""
    return _BLANK.sub("", " ".join(text.split()))


def one_spelling(text: str) -> str:
    """Return a text with the values, names of time and light verbs of Korean in one spelling."""
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return text


def without_particles(text: str) -> str:
    """Return a text without the particles of amounts, which would be words once the amounts are taken out."""
    return _AFTER_AMOUNT.sub(r"\1", text)


def one_style(text: str) -> str:
    """Return a text with Korean verbs in one style: 지납니다, 지난다 and 지나다 are one."""
    for ending, replacement in _ENDINGS:
        text = ending.sub(replacement, text)
    return _STYLE.sub(_base_form, text)


def _base_form(match: re.Match[str]) -> str:
    last = match["polite"] or match["present"]
    if last in "습는":
        return "다"
    final = (ord(last) - ord("가")) % 28  # of a syllable, see Unicode chapter 3.12
    return f"{chr(ord(last) - final)}다" if final == (_BIEUP if match["polite"] else _NIEUN) else match[0]
