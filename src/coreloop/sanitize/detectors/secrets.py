"""Credentials: tokens with the prefix of their issuer, keys, and values next to a word for a secret."""

import re
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign

_TOKEN: Final = r"(?<![A-Za-z0-9])"
PREFIXES: Final = (
    # (prefix, rest)
    ("(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)", "[A-Z0-9]{16}(?![A-Z0-9])"),
    ("gh[oprsu]_", "[A-Za-z0-9]{16,255}"),
    ("github_pat_", "[A-Za-z0-9_]{16,255}"),
    ("gl(?:pat|dt|rt|ptt|ft|imt|agent|soat|cbt|oas)-", "[A-Za-z0-9_.-]{16,}"),
    ("sk-ant-", "[A-Za-z0-9_-]{12,}"),
    ("sk-(?:proj|svcacct|admin|or|None)-", "[A-Za-z0-9_-]{12,}"),
    ("sk-", "[A-Za-z0-9]{20,}"),
    ("AIza", "[A-Za-z0-9_-]{30,}"),
    (r"ya29\.", "[A-Za-z0-9_-]{16,}"),
    ("GOCSPX-", "[A-Za-z0-9_-]{16,}"),
    ("xox[abceoprs]-", "[A-Za-z0-9-]{10,}"),
    ("xapp-", "[A-Za-z0-9-]{10,}"),
    ("(?:sk|rk|pk)_(?:live|test)_", "[A-Za-z0-9]{10,}"),
    ("whsec_", "[A-Za-z0-9+/=]{16,}"),
    ("npm_", "[A-Za-z0-9]{20,}"),
    ("pypi-", "[A-Za-z0-9_-]{16,}"),
    ("(?:hf|gsk|r8|xai|ntn|lin_api|dop_v1|shpat|shpss|shpca|dckr_pat|rubygems)[_-]", "[A-Za-z0-9_]{20,}"),
    ("(?:nvapi|pplx|tvly|sess|dapi|figd)[_-]", "[A-Za-z0-9_-]{20,}"),
    (r"SG\.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("hooks\\.slack\\.com/services/", "[A-Za-z0-9/]{10,}"),
    ("AGE-SECRET-KEY-1", "[A-Z0-9]{20,}"),
)
_PASSWORD: Final = (
    r"(?:pass(?:wd|word|phrase|code)|pwd|pswd|비밀\s?번호|비번|패스워드|암호(?!화)|핀\s?번호|cvc|cvv)"
)
_CREDENTIAL: Final = (
    r"(?:secret(?:[_ -]?(?:access[_ -]?)?key)?|client[_ -]?secret|api[_ -]?key|access[_ -]?key(?:[_ -]?id)"
    r"?|private[_ -]?key|"
    r"(?:access|auth|refresh|id|bearer|session|api|bot|csrf|xsrf)[_ -]?token|token|credentials?|session[_ "
    r"-]?(?:id|key)|sessid|"
    r"encryption[_ -]?key|signing[_ -]?key|account[_ -]?key|shared[_ -]?access[_ -]?(?:key|signature)|"
    r"service[_ -]?key|"
    r"master[_ -]?key|crtfc[_ -]?key|license[_ -]?key|webhook[_ -]?secret|"
    r"auth[_ -]?key|인증\s?키|시크릿(?:\s?키)?|토큰|"
    r"api\s?키|접근\s?키|보안\s?키|"
    r"서비스\s?키|비밀\s?키|개인\s?키)"
)
SENSITIVE_KEY: Final = re.compile(
    rf"(?i)(?:^|[^A-Za-z]|(?<=[a-z]))(?:(?P<password>{_PASSWORD}|^pw|^pin|[_-]pw|[_-]pin)|{_CREDENTIAL}|authorization|^auth|x-api-key|"
    r"cookie|connection[_ -]?string|conn[_ -]?str|dsn|jwt|bearer)(?:[_-]?(?:value|prod|dev|test|\d))?$"
)
_Q: Final = r"\\*[\"'`“”‘’]"
_LABEL: Final = (
    r"(?!\[[A-Z]{2,9}-(?:[0-9]+|[a-p]{48})\])(?![a-z_]{2,20}-[a-p]{32}(?![a-z]))(?!\[?redacted|\*{3}|x{4})"
)
_VALUE: Final = (
    rf"(?:{_Q}{_LABEL}(?P<quoted>[^\"'`“”‘’\\]*(?:\\(?![\"'`]).[^\"'`“”‘’\\]*)*)|"
    rf"{_LABEL}(?P<value>[^\s\"'`“”‘’]+))"
)
_IS: Final = rf"(?:{_Q})?\s{{0,3}}(?:[:=]{{1,2}}>?|=>|:=|→|->)\s{{0,3}}"
_WORDS_TEXT: Final = """
required missing invalid expired none null nil undefined true false empty redacted masked hidden unknown
optional string str int number text value yes no not the is was must should error failed wrong incorrect
mismatch reset changed needed and or in for of to a an with without from at by 필수 없음 오류 만료 필요
변경 입력 확인 분실 재설정 틀림 불일치
"""
_WORDS: Final = frozenset(_WORDS_TEXT.split())
_PLACEHOLDER: Final = re.compile(
    r"\$\{?[A-Za-z_]\w*\}?|\{+[^{}]*\}+|<[^<>]*>|%\w+%|\.{2,}|…|-+|_+|os\.\w+.*|process\.env.*|"
    r"getenv.*|self\.\w+|\w+\(\)?"
)


def _value(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return (groups.get("quoted") or groups.get("value") or "").rstrip(".,;:!?)]}")


def looks_like_password(value: str) -> bool:
    """Whether a value next to "password" is a password, not a word of prose about passwords."""
    bare = value.strip().strip("\"'`")
    if len(bare) < 3 or bare.lower() in _WORDS or _PLACEHOLDER.fullmatch(bare):
        return False
    return not re.fullmatch(r"[가-힣\s.,!?]+", bare)


def looks_like_credential(value: str) -> bool:
    """Whether a value next to "token" or "secret" is a credential, not a number, word or sentence."""
    bare = value.strip().strip("\"'`")
    if len(bare) < 6 or re.search(r"\s", bare) or bare.lower() in _WORDS or _PLACEHOLDER.fullmatch(bare):
        return False
    if re.fullmatch(r"[0-9.,%]+", bare) or not re.search(r"[A-Za-z0-9]{4}", bare):
        return len(bare) >= 20 and bare.isdigit()
    mixed = re.search(r"[a-z]", bare) and re.search(r"[A-Z]", bare[1:])
    return bool(re.search(r"[0-9]", bare) or mixed or re.search(r"[!@#$%^&*+/=~?]", bare) or len(bare) >= 16)


def _is_password(match: re.Match[str]) -> bool:
    return looks_like_password(_value(match))


def _is_credential(match: re.Match[str]) -> bool:
    return looks_like_credential(_value(match))


def _is_random(match: re.Match[str]) -> bool:
    """Whether a token looks random, not like joined words: digits or mixed case."""
    text = match[0]
    return not re.fullmatch(r"[a-z_.-]+(?:[0-9]{1,2})?|[A-Z]{1,4}[a-z_.-]+", text)


def _prefixed() -> str:
    return "|".join(f"{head}{tail}" for head, tail in PREFIXES)


_NAMED: Final = rf"(?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?(?:{_PASSWORD}|{_CREDENTIAL}|authorization|cookie)"
RULES: Final = (
    Rule("SECRET", rf"{_TOKEN}(?:{_prefixed()})", Sign.PREFIX, _is_random, joins=True),
    Rule(
        "SECRET",
        rf"{_TOKEN}eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{4,}}(?:\.[A-Za-z0-9_-]*){{0,3}}",
        Sign.PREFIX,
        joins=True,
    ),
    Rule("SECRET", rf"{_TOKEN}[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{30,}}", Sign.DIGITS),
    Rule(
        "SECRET",
        r"(?s)-{3,5}\s*BEGIN[A-Z0-9 ]*PRIVATE\s+KEY(?: BLOCK)?\s*-{3,5}.*?(?:-{3,5}\s*END[A-Z0-9 "
        r"]*PRIVATE\s+KEY(?: BLOCK)?\s*-{3,5}|\Z)",
        Sign.KEYWORD,
    ),
    Rule(  # connection strings with a password before the host
        "SECRET",
        r"(?i)(?<![A-Za-z0-9])(?:jdbc:)?[a-z][a-z0-9+.-]{1,24}:\s?\\?/\s?\\?/\s?[^\s/@:\"'<>]*:[^\s\"'<>]+@[^\s\"'<>]+",
        Sign.LINK,
    ),
    Rule("SECRET", r"(?<![\w/])[A-Za-z]\w{1,30}/[^\s@/\"']{3,40}@[\w.-]+:[0-9]{2,5}[/:]\w+", Sign.AT),
    Rule(
        "SECRET",
        rf"(?i)authorization{_IS}(?:{_Q})?(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?{_LABEL}(?!(?:bearer|basic|token|digest|apikey)\s)(?P<value>[^\s\"'`,;]{{6,}}(?:,\s?\w+=\S+)*)",
        Sign.KEYWORD,
        _is_password,
    ),
    Rule(
        "SECRET",
        rf"(?i)(?<![A-Za-z])(?:bearer|basic)\s+{_LABEL}(?P<value>[A-Za-z0-9._~+/=-]{{12,}})",
        Sign.KEYWORD,
        lambda match: bool(re.search(r"[0-9]", match["value"])) or _is_random(match),
    ),
    Rule("SECRET", rf"(?i)(?<![A-Za-z])(?:set-)?cookie:\s*{_LABEL}(?P<value>[^\s=]+=[^\n]+)", Sign.KEYWORD),
    Rule("SECRET", rf"(?i)(?:{_PASSWORD}){_IS}{_VALUE}", Sign.KEYWORD, _is_password),
    Rule("SECRET", rf"(?i)(?<![A-Za-z])pw{_IS}{_VALUE}", Sign.KEYWORD, _is_password),
    Rule(  # after two names in a row, the value belongs to the second
        "SECRET",
        rf"(?i){_CREDENTIAL}{_IS}(?!{_CREDENTIAL}{_IS}){_VALUE}",
        Sign.KEYWORD,
        _is_credential,
    ),
    Rule(  # "password is hunter2", "비밀번호는 hunter2 입니다"
        "SECRET",
        rf"(?i)(?:{_PASSWORD}|{_CREDENTIAL})(?:\s?(?:은|는|이|가|을|를)|\s+(?:is|was|=))\s*(?:{_Q})?{_LABEL}"
        r"(?P<value>(?=[^\s가-힣\"'`]*[0-9!@#$%^&*])[^\s가-힣\"'`]{4,})",
        Sign.KEYWORD,
        _is_password,
    ),
    Rule(  # 비번 hunter2!
        "SECRET",
        rf"(?i){_PASSWORD}\s{{1,3}}{_LABEL}(?P<value>(?=[^\s가-힣\"'`]*[0-9])(?=[^\s가-힣\"'`]*[a-z])"
        r"(?=[^\s가-힣\"'`]*(?:[!#$%^*?~@&]|(?-i:[a-z][^\s가-힣\"'`]*[A-Z]|[A-Z][^\s가-힣\"'`]*[a-z])))"
        r"[^\s가-힣\"'`]{6,})",
        Sign.KEYWORD,
    ),
    Rule(  # a private key without its first line
        "SECRET",
        r"(?<![A-Za-z0-9+/])M?II[A-Za-z0-9+/](?:[A-Za-z0-9+/=]|\s{1,3}(?=[A-Za-z0-9+/=])){60,}",
        Sign.PREFIX | Sign.KEYWORD,
        joins=True,
    ),
    Rule(  # --password hunter2
        "SECRET",
        rf"(?i)(?<![\w-])--?[a-z-]*(?:{_PASSWORD}|token|secret|api-?key|access-?key)(?:{_Q}\s*,\s*{_Q}|[ "
        rf"=]\s*(?:{_Q})?){_LABEL}(?P<value>[^\s\"'`“”‘’-][^\s\"'`“”‘’]{{2,}})",
        Sign.KEYWORD,
        _is_password,
    ),
    Rule(
        "SECRET",
        r"(?<![\w-])(?:-u|--user)[ =]?[\"']?(?P<value>[^\s:\"'@/]{1,64}:[^\s\"'/]{2,})",
        Sign.KEYWORD,
    ),
    Rule(  # {"name": "api_key", "value": "…"} inside a text
        "SECRET",
        rf"(?i){_Q}(?:name|key|field|header|param|id|label){_Q}\s*:\s*{_Q}{_NAMED}{_Q}\s*,\s*{_Q}(?:value|val|data|content|default|secret){_Q}\s*:\s*{_VALUE}",
        Sign.KEYWORD,
        _is_password,
    ),
    Rule(
        "SECRET",
        rf"(?i){_Q}(?:value|val){_Q}\s*:\s*{_VALUE}{_Q}\s*,\s*{_Q}(?:name|key|field|header){_Q}\s*:\s*{_Q}{_NAMED}{_Q}",
        Sign.KEYWORD,
        _is_password,
    ),
    Rule("SECRET", rf"(?i){_Q}{_NAMED}{_Q}\s*,\s*{_VALUE}", Sign.KEYWORD, _is_credential),
    Rule("SECRET", rf"(?i)<{_NAMED}>\s*{_LABEL}(?P<value>[^<\s]+)\s*<", Sign.KEYWORD, _is_password),
)
