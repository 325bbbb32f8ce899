"""Company names and aliases from a TSV, found even with attached particles, and their stock codes."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from ahocorasick_rs import AhoCorasick

from coreloop.base.errors import WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.records import encodable
from coreloop.sanitize.detectors.rule import Detection, Hit, in_row, is_money, words_of
from coreloop.sanitize.undisguised import decoded, plain_text, readings

# Names that are also everyday words: a company only beside ㈜, (주), 주식회사, a code or a word such as 주가.
_ORDINARY: Final = words_of("""
대상 기아 경방 고영 광무 금비 금양 꿈비 나노 남성 노을 다날 대교 대덕 대동 대모 대원 대창 대현
덕성 도부 동방 동서 동양 레몬 레이 러셀 무학 배럴 백산 벽산 보락 보령 부방 산돌 삼기 삼바 삼일
삼진 상보 서남 서산 서연 서원 서한 선광 선진 성우 세동 세방 세중 승일 신원 신풍 신흥 씨앗 아하
야스 영풍 오공 오아 우성 우양 우진 원림 원익 원준 유신 율촌 인팩 일승 전방 조비 조흥 진도 진영
천보 카스 캐리 코디 태광 태성 태양 파루 파수 포톤 피노 핑거 하츠 하스 한독 한진 한창 한탑
혜인 화신 후성 흥국 희림 힘스 db e1 e8 eg sg tp cs nc kd dl yw 3s kx
lf 신세계 우리손
""")
# Further ones where only the public listing has the name: whoever lists 메카로 by --names means the company.
_ORDINARY_IF_LISTED: Final = _ORDINARY | words_of("""
아크릴 유니온 빙그레 모나미 녹십자 삼천리 풀무원 비비안 유니크 손오공 제우스 오로라 이글루 상상인 우리로
우리넷 나무가 사람인 정다운 질경이 오리온 자비스 이지스 메카로 스피어 타이드 하이브 비비씨 덱스터 머큐리
링크드 위너스 이월드 네이블 인산가 광전자 에스엠 와이즈 디바이스 모나리자 유나이티드 판타지오 롤링스톤
노랑풍선 중앙백신 컬러레이 파라다이스 드래곤플라이 한글과컴퓨터 깨끗한나라 좋은사람들 자연과환경
한국공항 한국가구 한국제지 한국철강 한국컴퓨터 한국화장품 하나기술 나무기술 우리기술 푸른기술 타임기술
현대공업 조선선재 조선내화 대한과학 비상교육 지역난방공사 orion new nice isc dms emb aps
""")
_LONGER: Final = ("카카오톡", "하이브리", "아스트로", "아스트리", "아스트라")
"""Other words that begin with a name of the listing."""
_PARTICLE: Final = (
    r"(?:입니다|이다|은|는|이|가|을|를|의|에|와|과|도|만|로|으로|에서|에게|까지|부터|처럼|보다|이나|나|랑|하고|만큼|까지의|이랑|라는|이라는|이라고|라고|이란|란|측|株|주|우|사|쪽|들|이야|야|요|이요|"
    r"주가|실적|매출|주식|배당|그룹|전망|분석|재무|영업이익|시총|목표가|공시|종목|수익성|안정성|성장성|이익|순이익|부채|현금흐름|관련|대비|및)"
)
_AFTER: Final = re.compile(rf"(?:{_PARTICLE}){{0,3}}(?![가-힣A-Za-z0-9])")
_MARK: Final = r"㈜|\(\s{0,3}[주유株]\s{0,3}\)|주\s{0,3}식\s{0,3}회\s{0,3}사"
# An ordinary word before one of these is a company, unless another noun stands before it: 조사 대상 실적.
_FINANCE: Final = re.compile(
    r"(?:의|은|는|이|가|도)?\s{0,2}(?:주가|실적|매출|배당|공시|시총|시가총액|목표가|영업이익|순이익|재무제표|종목|주식|그룹|백화점)"
)
_ANOTHER_NOUN: Final = re.compile(
    r"(?:조사|비교|투자|분석|평가|적용|과세|감사|공시|심사|제외|검토|지원|신청|조회|상장|편입|매수|매도|추천|관심|보고)\s{1,3}\Z"
)
_MARK_AHEAD: Final = re.compile(rf"(?:{_MARK})\s{{0,3}}\Z")
_MARK_BEHIND: Final = re.compile(
    rf"\s{{0,3}}(?:{_MARK}|Inc\b|Co\.|Corp|[,\[(\s]{{1,2}}[0-9][0-9A-Z]{{5}}(?![0-9A-Za-z])|"
    r"[\[(]\s{0,3}[0-9](?:\s{0,3}[0-9A-Z]){5}\s{0,3}[\])])"
)
_CODE: Final = re.compile(r"(?<![0-9A-Za-z.+-])[0-9][0-9A-Z]{5}(?![0-9A-Za-z]|\.[0-9])")
_SECURITY: Final = re.compile(  # A005930 and the ISIN KR7005930003
    r"(?<![0-9A-Za-z])(?:A([0-9]{6})|KR7([0-9][0-9A-Z]{5})[0-9]{3})(?![0-9A-Za-z])"
)
_CODE_WORD: Final = re.compile(
    r"(?i)(?:종목|코드|code|ticker|stock|symbol|krx|kospi|kosdaq|isu)[^\n]{0,12}\Z"
)
_UNIT: Final = re.compile(
    r"(?:\s?(?:won|krw|usd|ms\b|bytes?|%)|\s?(?:원|명|개|건|억|조|만|천|달러|배|호|일|년|월|분|초|시간|주)(?![가-힣]|$)|"
    r"(?:원|명|개|건|억|조|만|천|달러|배|호|일|년|월|분|초|시간|주)(?:$|[은는이가을를의에와과도로씩]))",
    re.IGNORECASE,
)


Row = tuple[str, str, Sequence[str]]  # a stock code, a name, and aliases


class Names:
    """A search index of company names.

    Parameters
    ----------
    rows : iterable of Row
        As a project gives them.
    listed : iterable of Row, optional
        Those of a public listing, of which more are everyday words.
    """

    def __init__(self, rows: Iterable[Row], listed: Iterable[Row] = ()) -> None:
        self._codes: dict[str, str] = {}
        by_text: dict[str, tuple[str, str, bool]] = {}
        for is_listed, given in ((False, rows), (True, listed)):
            for code, name, aliases in given:
                if code:
                    self._codes[code] = name
                for folded in (re.sub(r"\s", "", plain_text(spelling)) for spelling in (name, *aliases)):
                    if len(folded) > 1:
                        by_text.setdefault(folded.lower(), (folded, code or name, is_listed))
        self._texts = list(by_text)
        self._entries = list(by_text.values())
        self._automaton = AhoCorasick(self._texts) if self._texts else None

    def __len__(self) -> int:
        return len(self._texts)

    def find(self, text: str) -> list[Hit]:
        """Find names and codes in a text; overlapping names are resolved to the leftmost, then longest."""
        names: list[Hit] = []
        for view in readings(text):
            visible = text if view is None else view.text
            taken = _leftmost_longest(list(self._companies(visible)))
            found = [*taken, *self._stock_codes(visible, taken), *self._encoded(visible)]
            if view is not None:
                found = [Hit(name.kind, *view.span(name.start, name.end), name.value) for name in found]
            names += found
        return _leftmost_longest(names)

    def _encoded(self, text: str) -> Iterator[Hit]:
        """Yield base64 text that names a company."""
        for start, end, inner in decoded(text):
            name = next(self._companies(inner), None)
            if name is not None:
                yield Hit(name.kind, start, end, name.value)

    def _companies(self, text: str) -> Iterator[Hit]:
        if self._automaton is None:
            return
        lowered = encodable("".join(text.split()).lower())
        matches = self._automaton.find_matches_as_indexes(lowered, overlapping=True)
        places = [at for at, char in enumerate(text) if not char.isspace()] if matches else []
        if len(lowered) != len(places):
            return
        for index, start, end in matches:
            written, code, is_listed = self._entries[index]
            first, last = places[start], places[end - 1] + 1
            if self._is_company(text, first, last, written, is_listed=is_listed):
                yield Hit("COMPANY", first, last, code)

    def _is_company(self, text: str, start: int, end: int, written: str, *, is_listed: bool) -> bool:
        before, behind, match = text[max(0, start - 16) : start], text[end : end + 16], text[start:end]
        is_ordinary = written.lower() in (_ORDINARY_IF_LISTED if is_listed else _ORDINARY)
        starts_word = not _is_letter(before[-1:], written[0])
        if _MARK_AHEAD.search(before) or (is_ordinary and starts_word and _MARK_BEHIND.match(behind)):
            return True
        if is_ordinary and not written.isascii() and _FINANCE.match(behind):
            return starts_word and _ANOTHER_NOUN.search(before) is None
        is_longer = is_listed and text.startswith(_LONGER, start)
        if is_ordinary or is_longer or _is_other_word(match, written, before):
            return False
        if len(match) > len(written) and _is_letter(behind[:1], written[-1]) and not _AFTER.match(behind):
            return False  # 바른 유통기한 is not 바른유통
        ends_word = not _is_letter(behind[:1], written[-1])
        if written[-1].isascii() and not ends_word:
            return False
        if len(written) >= 4 and not written[0].isascii():
            return True
        if not starts_word:
            return False
        return len(written) > 2 or ends_word or _AFTER.match(behind) is not None

    def _stock_codes(self, text: str, taken: list[Hit]) -> Iterator[Hit]:
        for match in _SECURITY.finditer(text):
            if (match[1] or match[2]) in self._codes:
                yield Hit("STOCK", match.start(), match.end(), match[1] or match[2])
        for match in _CODE.finditer(text):
            code = match[0]
            if code not in self._codes:
                continue
            behind = bisect_right(taken, match.start(), key=lambda name: name.start)
            beside = taken[max(0, behind - 1) : behind + 1]
            if any(name.start < match.end() and match.start() < name.end for name in beside):
                continue
            if self._is_tied(text, match, beside):
                yield Hit("STOCK", match.start(), match.end(), code)

    def _is_tied(self, text: str, match: re.Match[str], beside: list[Hit]) -> bool:
        start, end = match.span()
        if any(0 <= start - name.end <= 6 or 0 <= name.start - end <= 6 for name in beside):
            return True
        if _CODE_WORD.search(text[max(0, start - 24) : start]):
            return True
        if _UNIT.match(text, end):
            return False
        if match[0].startswith("0") or text.strip() == match[0] or not match[0].isdigit():
            return True
        return not is_money(match) and not in_row(match)

    def has_code(self, text: str) -> bool:
        """Whether a text is exactly the code of a company."""
        return text.strip() in self._codes


def has_companies(names_file: Path | None, detection: Detection) -> bool:
    """Whether a run looks for any company: the project names some, or the listing of Korea is chosen."""
    return names_file is not None or bool(detection.names) or "kr" in detection.countries


def companies(names_file: Path | None, detection: Detection) -> Names | None:
    """Return the companies to look for: the project's own, and the listing of Korea if it is chosen.

    The file has ``code<TAB>name<TAB>alias|alias``; lines that begin with ``#`` are comments.

    Raises
    ------
    WorkspaceError
        The file cannot be read or is empty, or a line has no name; the message has its number.
    """
    own = _read(names_file) if names_file is not None else [("", name, []) for name in detection.names]
    listing = files("coreloop.sanitize").joinpath("listings", "kr.tsv")
    is_listed = "kr" in detection.countries
    listed = _rows(listing.read_text(encoding="utf-8"), Path("kr.tsv")) if is_listed else []
    return Names(own, listed) if own or listed else None


def _read(path: Path) -> list[Row]:
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WorkspaceError("is not UTF-8; save it as UTF-8", path=path) from error
    rows = _rows(text, path)
    if not rows:
        raise WorkspaceError("has no companies; each line is code<TAB>name<TAB>alias|alias", path=path)
    return rows


def _rows(text: str, path: Path) -> list[Row]:
    rows = list[Row]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) < 2 or not fields[1]:
            raise WorkspaceError(f"line {number} is not code<TAB>name<TAB>alias|alias", path=path)
        aliases = fields[2].split("|") if len(fields) > 2 else []
        rows.append((fields[0], fields[1], [alias.strip() for alias in aliases if alias.strip()]))
    return rows


def _leftmost_longest(names: list[Hit]) -> list[Hit]:
    if len(names) < 2:
        return names
    selected: list[Hit] = []
    for name in sorted(names, key=lambda name: (name.start, -name.end)):
        if not selected or name.start >= selected[-1].end:
            selected.append(name)
    return selected


def _is_other_word(match: str, written: str, before: str) -> bool:
    """Whether the spelling rules out a name: "lg" in prose, or white space inside a short name."""
    bare = "".join(match.split())
    if written.isascii() and written.isalnum() and len(written) <= 4 and written != bare:
        return True
    if bare == match:
        return False
    return len(written) < 3 if "\n" in match else len(written) < 4 or before[-1:].isalnum()


def _is_letter(char: str, neighbour: str) -> bool:
    """Whether a character continues the word of its neighbour: same script, Hangul or Latin."""
    if not char:
        return False
    if neighbour.isascii():
        return char.isascii() and char.isalnum()
    return "가" <= char <= "힣"
