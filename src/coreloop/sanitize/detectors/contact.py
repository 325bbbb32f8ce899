"""E-mail addresses, written or spelled out."""

import re
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign

_LOCAL: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_TLD: Final = r"(?:[A-Za-z]{2,24}|xn--[A-Za-z0-9-]{2,30})"
_OPEN, _CLOSE = r"\s*[\[({<|*_-]{1,2}\s*", r"\s*[\])}>|*_-]{1,2}\s*"
_AT: Final = rf"(?:{_OPEN}(?:at|@|앳|골뱅이){_CLOSE}|\s+(?:at|@|앳)\s+|\s*골뱅이\s*|@)"
_DOT: Final = rf"(?:{_OPEN}(?:dot|\.|닷|점){_CLOSE}|\s+(?:dot|\.)\s+|\s*(?:닷|점)\s*|\.)"
# Possessive, and never over "-dot-": a word that could take it in would be split in every possible way.
_WORD: Final = r"[A-Za-z0-9]++(?:(?![_-]{1,2}(?:at|dot)[_-])[+_-]++[A-Za-z0-9]++)*+"
_COMMON_TLD: Final = (
    r"(?:com|net|org|edu|gov|info|biz|io|ai|app|dev|me|co|kr|jp|cn|uk|us|de|fr|eu|ca|au|in|tv|asia|"
    r"example|test|invalid|local|xyz|site|online|tech|cloud|email|company)"
)
_MAIL_HOST: Final = re.compile(r"(?:gmail|hanmail|outlook|hotmail|icloud|proton|protonmail)\.", re.IGNORECASE)


def _is_spoken(match: re.Match[str]) -> bool:
    """Whether "at" or "dot" is used as in addresses, not as in prose such as "look at naver.com"."""
    at, rest = match["at"].strip().lower(), match["rest"].lower()
    if at == "@":
        return not re.fullmatch(r"[A-Za-z0-9.-]+", rest)
    if at != "at":
        return True
    if re.search(r"\bdot\b|닷|점|[\[({]", rest):
        return True
    return bool(re.search(r"[0-9._]", match["local"])) or bool(_MAIL_HOST.match(rest))


RULES: Final = (
    Rule(
        "EMAIL", rf"(?<![A-Za-z0-9._+-]){_LOCAL}{{1,64}}@(?:{_LABEL}\.){{1,8}}{_TLD}(?![A-Za-z0-9])", Sign.AT
    ),
    Rule("EMAIL", rf"\"[^\"\s@]{{1,64}}\"@(?:{_LABEL}\.){{1,8}}{_TLD}", Sign.AT),
    Rule("EMAIL", rf"(?<![A-Za-z0-9]){_LOCAL}{{1,64}}@\[[0-9a-fA-F.:]{{7,45}}\]", Sign.AT),
    Rule(  # letters of other scripts in the name or the host
        "EMAIL",
        r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}(?:[A-Za-z]{2,24}|한국|닷컴|닷넷|[^\W\d_a-zA-Z가-힣]{2,12})",
        Sign.AT,
    ),
    Rule(
        "EMAIL",
        rf"(?i)(?<![A-Za-z0-9._+-])(?P<local>{_WORD}(?:{_DOT}{_WORD}){{0,3}})(?P<at>{_AT})"
        rf"(?P<rest>{_WORD}(?:{_DOT}{_WORD}){{0,4}}?{_DOT}{_COMMON_TLD}(?:{_DOT}kr|{_DOT}uk|{_DOT}jp)?)"
        r"(?![A-Za-z0-9])",
        Sign.SPOKEN_AT,
        _is_spoken,
    ),
    Rule(  # kim[at]firm.shop: brackets tell enough, so any domain
        "EMAIL",
        rf"(?i)(?<![A-Za-z0-9._+-]){_WORD}(?:{_DOT}{_WORD}){{0,3}}(?:\[(?:at|@|앳|골뱅이)\]|\((?:at|@|앳|골뱅이)\)|"
        rf"\{{(?:at|@)\}}|<(?:at|@)>){_LABEL}(?:(?:\.|[\[({{](?:\.|dot)[\])}}]){_LABEL}){{1,5}}(?![A-Za-z0-9])",
        Sign.SPOKEN_AT,
    ),
)
