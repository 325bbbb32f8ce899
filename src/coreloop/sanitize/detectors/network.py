"""Links and network addresses."""

import ipaddress
import re
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign, ahead, behind

_END: Final = r"[^\s<>\"'`\u3000]"
_BRACKETED: Final = r"[\[({](?:\.|dot)[\])}]"
_VERSION: Final = re.compile(
    r"(?:\bv|ver|version|release|버전|판|build|section|sec\.|chapter|clause|§|제|절|항|chrome|safari|firefox|edge|opera|android|windows|ios|macos|driver|"
    r"firmware|kernel|java|sdk|[a-z]/)\s*[.:/]?\s*\Z",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"(?:\bip\b|ipv[46]|host|server|addr|주소|아이피|서버|접속|client|remote)", re.IGNORECASE
)


def _is_ipv4(match: re.Match[str]) -> bool:
    octets = [int(part) for part in match["address"].split(".")]
    if max(octets) > 255 or _VERSION.search(ahead(match)) or behind(match, 2).lstrip()[:1] in {"절", "항"}:
        return False
    if any(part != "0" and part.startswith("0") for part in match["address"].split(".")):
        return False
    # 1.2.3.4 without a telling word is more often a section or a version than a host
    return max(octets) > 9 or bool(_ADDRESS.search(ahead(match)) or match["port"])


def _is_ipv6(match: re.Match[str]) -> bool:
    text = match["address"]
    if len(text) < 6 or not any(char.isdigit() for char in text) or text.count(":") < 2:
        return False
    try:
        return not ipaddress.IPv6Address(text).is_loopback
    except ValueError:
        return False


RULES: Final = (
    Rule(
        "URL",
        rf"(?i)(?<![A-Za-z0-9])(?![a-z]*file:/{{3}}(?!\S{{0,256}}(?:home|users)[\\/]))[a-z][a-z0-9+.-]{{1,24}}:\\?/\\?/{_END}+",
        Sign.LINK,
    ),
    Rule(  # made unclickable: hxxps[:]//acme[.]example/x
        "URL",
        rf"(?i)(?<![A-Za-z0-9])h[tx]{{2}}ps?(?:[\[({{]:(?://)?[\])}}]|:)(?:\\?/|[\[({{]/[\])}}]){{0,2}}{_END}{{3,}}",
        Sign.LINK,
        lambda match: re.search(r"//|[\[({]/", match[0][:16]) is not None,
    ),
    Rule(  # acme[.]example/x, www[.]acme[.]example
        "URL",
        rf"(?i)(?<![A-Za-z0-9.@/_-])(?:www{_BRACKETED}|(?=[a-z0-9.-]{{1,80}}{_BRACKETED}))"
        rf"[a-z0-9-]{{1,63}}(?:(?:\.|{_BRACKETED})[a-z0-9-]{{1,63}}){{1,5}}(?:(?:/|\?[a-z0-9_]){_END}*|(?<=[a-z0-9]))",
        Sign.LINK,
        lambda match: match[0][:3].lower() == "www" or re.search("[/?]", match[0]) is not None,
    ),
    Rule("URL", rf"(?i)(?<![A-Za-z0-9.@/])www\.[a-z0-9-]{{1,63}}\.{_END}{{2,}}", Sign.LINK),
    Rule(
        "URL",
        rf"(?i)(?<![A-Za-z0-9.@/_-])(?:[a-z0-9-]{{1,63}}\.){{1,6}}[a-z]{{2,12}}(?::[0-9]{{2,5}})?(?:/[^\s<>\"'`?]{{0,400}})?"
        rf"\?[A-Za-z0-9_.\[\]-]{{1,40}}={_END}+",
        Sign.LINK,
    ),
    Rule(
        "IP",
        r"(?<![0-9A-Za-z.])(?P<value>(?P<address>[0-9]{1,3}(?:\.[0-9]{1,3}){3}))"
        r"(?P<port>:[0-9]{2,5})?(?![0-9]|\.[0-9])",
        Sign.DOTTED,
        _is_ipv4,
    ),
    Rule(
        "IP",
        r"(?:(?<![0-9A-Za-z:.])|(?<=[A-Za-z][G-Zg-z]:)|(?<=[G-Zg-z][A-Za-z]:))(?P<address>(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|[0-9]{1,3}(?:\.[0-9]{1,3}){3})?)"
        r"(?:%[a-z0-9]+)?(?![0-9A-Za-z:])",
        Sign.COLONS,
        _is_ipv6,
    ),
    Rule(
        "MAC",
        r"(?:(?<![0-9A-Za-z:-])|(?<=[A-Za-z][G-Zg-z]:)|(?<=[G-Zg-z][A-Za-z]:)|(?<=[A-Za-z]{3}:))[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Za-z]|[:-][0-9A-Za-z])",
        Sign.MAC,
    ),
)
