"""Every rule, by the sign that it needs; patterns are compiled when the first text shows the sign."""

import re
from functools import lru_cache
from typing import Final

from coreloop.sanitize.detectors import contact, finance, korean_ids, network, paths, persons, phones, secrets
from coreloop.sanitize.detectors.rule import Rule, Sign

RULES: Final[tuple[Rule, ...]] = (
    *secrets.RULES,
    *contact.RULES,
    *network.RULES,
    *korean_ids.RULES,
    *finance.RULES,
    *phones.RULES,
    *paths.RULES,
    *persons.RULES,
)
_HANGUL_TITLE: Final = (
    r"씨|님|대표|이사|회장|사장|상무|전무|부장|차장|과장|대리|팀장|실장|본부장|센터장|지점장|사원|주임|선임|책임|수석|위원|의원|장관|차관|교수|박사|변호사|"
    r"회계사|세무사|변리사|노무사|법무사|기자|앵커|선생|고객|회원|의사|간호사|약사|원장|매니저|연구원|애널리스트|감사|조합장|총장|학장|교장|판사|검사|형사|"
    r"경위|경감|작가|감독|배우|선수|CEO|CFO|CTO|COO|PM|PD|담당|작성자|신청|예금주|수신|수취인|보호자|환자|직원|성명|성함|이름|실명|발신|사람|name|holder"
)
# The characters and words of which every sign needs at least one.
_MAYBE: Final = re.compile(
    rf"[@:=/\\0-9]|www|[Ss][Kk]-|eyJ|BEGIN|AKIA|[Aa]Iza|_live_|_test_|gh[a-z]_|gl[a-z]+-|npm_|hf_|pypi-|xox|whsec|GOCSPX|(?i:pass|secret|token|cookie|bearer)|골뱅이|공일|비번|비밀|[A-Za-z]\s?[\[(<{{]|\sat\s|{_HANGUL_TITLE}|M[rsx]\b|MR|MS|mr|ms|Mrs|Miss|[DdP]r|DR|Sir|Chair|President"
)
_SIGNS: Final = (
    (
        Sign.SPOKEN_AT,
        r"(?i)[\[({<|*_]\s*(?:at|dot|앳|골뱅이|닷|점|\.|@)\s*[\])}>|*_]|\s(?:at|dot)\s|골뱅이|\s@|@\s|\s닷\s?컴|_at_|-at-",
    ),
    (Sign.DOTTED, r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"),
    (Sign.COLONS, r"[0-9A-Fa-f]{0,4}::?[0-9A-Fa-f]{0,4}:"),
    (Sign.DIGITS, r"[0-9](?:[^0-9\n]{0,3}[0-9]){6,}"),
    (Sign.SPOKEN_DIGITS, r"[공영]일[공영일육륙칠팔구]"),
    (
        Sign.KEYWORD,
        r"(?i)pass|pwd|pswd|(?<![a-z])pw|pin\b|cv[cv]|secret|token|[_ -]?key|credential|authoriz|bearer|"
        r"basic|cookie|sess|비밀|비번|패스워드|암호|"
        r"핀\s?번호|시크릿|토큰|인증\s?키|접근\s?키|보안\s?키|서비스\s?키|개인\s?키|-u\b|--user",
    ),
    (
        Sign.PREFIX,
        r"A[A-Z]{3}[A-Z0-9]{12}|gh[a-z]_|github_|gl[a-z]{2,5}-|sk-|AIza|ya29|GOCSPX|xox|xapp-|[srp]k_(?:live|test)|whsec_|npm_|pypi-|"
        r"(?:hf|gsk|r8|xai|ntn|lin_api|dop_v1|shpat|shpss|shpca|dckr_pat|rubygems|nvapi|pplx|tvly|sess|dapi|figd)[_-]|SG\.|hooks\.slack|AGE-S|eyJ",
    ),
    (Sign.HOME, r"(?i)[\\/](?:home|users|documents and settings)[\\/]|~[a-z][\w.-]*/"),
    (Sign.TITLE, _HANGUL_TITLE),
    (
        Sign.LATIN_TITLE,
        r"(?i)(?<![a-z])(?:mr|mrs|ms|miss|mx|dr|prof|professor|sir|madam|lady)[. ]|CEO|CFO|CTO|COO|Chairm|"
        r"Chairw|President",
    ),
)


@lru_cache(maxsize=1)
def _sign_patterns() -> tuple[tuple[Sign, re.Pattern[str]], ...]:
    return tuple((sign, re.compile(pattern)) for sign, pattern in _SIGNS)


def signs_of(text: str) -> Sign:
    """The signs that a text shows; none for most texts, found out at little cost."""
    found = Sign(0)
    if not _MAYBE.search(text):
        return found
    if "@" in text:
        found |= Sign.AT
    if (
        "://" in text
        or ":/" in text
        or ": /" in text
        or "http" in text
        or "www." in text.lower()
        or ("?" in text and "=" in text)
    ):
        found |= Sign.LINK
    for sign, pattern in _sign_patterns():
        if pattern.search(text):
            found |= sign
    return found


@lru_cache(maxsize=256)
def rules_for(
    signs: Sign, *, joins: bool = False
) -> tuple[tuple[Rule, re.Pattern[str], re.Pattern[str] | None], ...]:
    """The rules that some signs ask for, compiled, with the pattern of what must stand near."""
    wanted = (rule for rule in RULES if rule.sign & signs and (rule.joins or not joins))
    return tuple(
        (rule, _compiled(rule.pattern), _compiled(rule.near) if rule.near else None) for rule in wanted
    )


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
