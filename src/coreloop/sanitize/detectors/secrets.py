"""Credentials: known forms (credentials.toml), private keys, and values next to a word for a secret."""

import base64
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign, rules, words_of

# The first bytes of a key in DER (RSA, EC, Ed25519) and of one of OpenSSH.
_KEY_BEGINS: Final = re.compile(r"M[A-I][A-Za-z0-9+/]{1,6}(?:CAQ|AgE)|b3BlbnNzaC1rZXkt")
# PNG, JPEG, GIF, PDF, ZIP, gzip
_FILE_BEGINS: Final = re.compile(r"iVBORw0KG|/9j/|R0lGOD|JVBERi0|UEsDB|H4sI")
_MIN_BODY: Final = 120  # shorter than the body of any key but Ed25519's, which has its first bytes
_MIN_SIGNS: Final = 38  # 120 random characters of 64 have 48 to 61 different ones, a hash has 16


@dataclass(frozen=True, slots=True)
class Token:
    """A form of credential.

    Attributes
    ----------
    name : str
        The issuer and the kind of credential.
    words : str
        Lower-case texts, separated by blanks; every match contains at least one of them. None for a run of 40
        characters.
    pattern : str
        Regular expression for the whole credential; the group ``value``, if any, is the part to cut.
    example : str
        An invented credential. `sample` removes the blanks, which hide it from secret scanners; ``␣`` is a
        blank that stays.
    source : str
        Where the form is documented: by the issuer, or by a scanner of secrets; or ``observed``.
    gate : str
        Regular expression that every text with a match contains in lower case, if the words are also parts of
        everyday words.
    near : str or None
        Regular expression that must match next to the credential, as in `Rule`.
    """

    name: str
    words: str
    pattern: str
    example: str
    source: str
    gate: str = ""
    near: str | None = None

    @property
    def sample(self) -> str:
        """The example as a text contains it."""
        return self.example.replace(" ", "").replace("␣", " ")


def _read_tokens() -> tuple[Token, ...]:
    text = files("coreloop.sanitize.detectors").joinpath("credentials.toml").read_text(encoding="utf-8")
    return tuple(Token(**fields) for fields in tomllib.loads(text)["token"])


TOKENS: Final = _read_tokens()


def is_random(match: re.Match[str], group: int | str = 0) -> bool:
    """Whether a token looks random, not like joined words: digits or mixed case."""
    text = match[group]
    if re.search("x{8}|X{8}", text) or re.fullmatch(r"[a-z_.-]+[A-Z_-]+", text):  # sk-ant-YOUR_KEY_HERE
        return False
    return not re.fullmatch(r"[a-z_.-]+(?:[0-9]{1,2})?|[A-Z]{1,4}[a-z_.-]+", text)


def is_aws_secret(match: re.Match[str]) -> bool:
    """Whether 40 characters are random, not a hash or a path."""
    kinds = all(re.search(chars, match[0]) for chars in ("[0-9]", "[a-z]", "[A-Z]"))
    return kinds and not re.search("/[a-z]{5,}/|[a-z]{12}", match[0])


def is_key_body(match: re.Match[str]) -> bool:
    """Whether base64 text is a key's: as random as one, and neither an encoded text nor an image."""
    body = re.sub(r"\s", "", match[0])
    if _KEY_BEGINS.match(body):
        return True
    if len(body) < _MIN_BODY or len(set(body)) < _MIN_SIGNS or _FILE_BEGINS.match(body):
        return False
    bare = body.rstrip("=")
    data = base64.b64decode(bare[: len(bare) // 4 * 4])
    return sum(byte < 128 for byte in data) < 0.75 * len(data)  # random bytes: a half


_PASSWORD: Final = (
    r"(?:pass(?:wd|word|phrase|code)|ps?wd|비밀\s?번호|비번|패스워드|암호(?!화)|핀\s?번호|cvc|cvv)"
)
_CREDENTIAL: Final = (
    r"(?:secret(?:[_ -]?(?:access[_ -]?)?key)?|client[_ -]?secret|api[_ -]?key|access[_ -]?key(?:[_ -]?id)?|"
    r"private[_ -]?key(?:[_ -]?id)?|(?:access|auth|refresh|id|bearer|session|api|bot|csrf|xsrf)[_ -]?token|"
    r"token|credentials?|session[_ -]?(?:id|key)|sessid|"
    r"(?:encryption|signing|account|service|master|license|auth|crtfc)[_ -]?key|"
    r"shared[_ -]?access[_ -]?(?:key|signature)|webhook[_ -]?secret|인증\s?키|시크릿(?:\s?키)?|토큰|"
    r"(?:api|접근|보안|서비스|비밀|개인)\s?키)"
)
_EITHER: Final = f"(?:{_PASSWORD}|{_CREDENTIAL})"
SENSITIVE_KEY: Final = re.compile(
    rf"(?i)(?:^|[^A-Za-z]|(?<=[a-z]))(?:(?P<password>{_PASSWORD}|^pw|^pin|[_-]pw|[_-]pin)|{_CREDENTIAL}|authorization|^auth|x-api-key|(?:^|[_-])pass|"
    r"cookie|connection[_ -]?string|conn[_ -]?str|dsn|jwt|bearer)s?"
    r"(?:[_-]?(?:value|prod|dev|test|confirm|confirmation|\d))?:?$"
)
_MARK: Final = r"[\"'`“”‘’]"
_Q: Final = rf"\\{{0,4}}{_MARK}"
_LABEL: Final = r"(?!\[[A-Z]{2,9}-(?:[0-9]+|[a-p]{48})\])(?![a-z_]{2,20}-[a-p]{32}(?![a-z]))"
_VALUE: Final = (
    rf"(?:{_Q}{_LABEL}(?P<quoted>[^\"'`“”‘’\\]*+(?:\\(?![\"'`]).[^\"'`“”‘’\\]*+)*+)|"
    rf"{_LABEL}(?P<value>[^\s\"'`“”‘’]+))"
)
# "**password:** hunter2" in Markdown too, and "password2: hunter2"
_IS: Final = (
    rf"(?:[_-]?[0-9]{{1,2}})?(?:{_Q}|\*\*(?!\*))?"
    r"\s{0,3}(?:[:=]{1,2}>?|=>|:=|→|->)\s{0,3}(?:(?<=[:=])\*\*\s{1,3}(?=\S))?"
)
_WORDS: Final = words_of("""
n/a required missing invalid expired none null nil undefined true false empty redacted masked hidden unknown
optional string str int number text value yes no not the is was must should error failed wrong incorrect
mismatch reset changed needed and or in for of to a an with without from at by 필수 없음 오류 만료 필요
변경 입력 확인 분실 재설정 틀림 불일치
""")
_PLACEHOLDER: Final = re.compile(
    r"\$\{?[A-Za-z_]\w*\}?|\$?\{\{|\{+[^{}]*\}+|<[^<>]*>|%\w+%|\.{2,}|…|-+|_+|os\.\w+.*|process\.env.*|"
    r"getenv.*|self\.\w+|\w+\(\)?|\*{3,}|[xX]{4,}|•{3,}|\[?(?i:redacted)\]?"
)


# sha256, base64, oauth2, version-2, 3-day, rfc2617, 16-character, but not hunter87
_TECHNICAL: Final = re.compile(
    r"(?i)(?:sha|md|base|oauth|argon|utf|aes|rfc|cve|iso|http|ipv|python|windows|level|step|field|line|version|"
    r"section|page|rule|policy|part|type|case|test)[-_/]?[0-9.-]+\w{0,3}|[0-9]+[-–]?[a-z]+(?:-[a-z]+)*|[0-9.,/-]+[a-z]{0,3}"
)


_PARTICLE: Final = re.compile(r"(?<=[*>}•])[가-힣]{1,4}$")


def _value(match: re.Match[str]) -> str:
    """Return the value without punctuation and without a particle: ``password: ****로``."""
    groups = match.groupdict()
    value = (groups.get("quoted") or groups.get("value") or "").rstrip(".,;:!?)]")
    return _PARTICLE.sub("", value if value.endswith("}") and "{" in value else value.rstrip(".,;:!?)]}"))


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


def _is_spaced_password(match: re.Match[str]) -> bool:
    """Whether what follows "password" and a space is a password, not a word such as sha256 or version-2."""
    return looks_like_password(match["value"]) and not _TECHNICAL.fullmatch(_value(match))


def _is_credential(match: re.Match[str]) -> bool:
    return looks_like_credential(_value(match))


def _is_random_value(match: re.Match[str]) -> bool:
    return is_random(match, "value")


def _check_of(name: str) -> Callable[[re.Match[str]], bool]:
    return is_aws_secret if name == "AWS secret access key" else is_random


_TOKEN_RULES: Final = tuple(
    Rule(
        "SECRET",
        rf"(?<![A-Za-z0-9])(?:{token.pattern})",
        Sign(Sign.FIRST_TOKEN << row) if token.words else Sign.SECRET_RUN,
        _check_of(token.name),
        near=token.near,
    )
    for row, token in enumerate(TOKENS)
)
_NAMED: Final = rf"(?:[A-Za-z0-9_.-]{{0,40}}[A-Za-z0-9_-])?(?:{_PASSWORD}|{_CREDENTIAL}|authorization|cookie)"
_NAMED_SIGN: Final = Sign.PASSWORD | Sign.CREDENTIAL | Sign.AUTHORIZATION
_PRIVATE_KEY: Final = r"PRIVATE KEY(?: BLOCK)?-{3,5}"
RULES: Final = (
    *_TOKEN_RULES,
    Rule(
        "SECRET",
        rf"(?s)-{{3,5}}BEGIN[A-Z0-9 ]{{0,40}}{_PRIVATE_KEY}.*?"
        rf"(?:-{{3,5}}END[A-Z0-9 ]{{0,40}}{_PRIVATE_KEY}|\Z)",
        Sign.PRIVATE_KEY,
        lambda match: re.search("[A-Za-z0-9+/]{16}", match[0]) is not None,
    ),
    Rule(  # connection strings with a password before the host
        "SECRET",
        r"(?i)(?<![A-Za-z0-9])(?:jdbc:)?[a-z][a-z0-9+.-]{1,24}:\s?\\?/\s?\\?/\s?[^\s/@:\"'<>]{0,128}:[^\s\"'<>]{1,256}@[^\s\"'<>]+",
        Sign.LINK,
    ),
    Rule(
        "SECRET",
        r"(?<![\w/])[A-Za-z]\w{1,30}/[^\s@/\"']{3,40}@[\w.-]+:[0-9]{2,5}[/:]\w+",
        Sign.AT,
    ),
    *rules(
        "SECRET",
        Sign.AUTHORIZATION,
        (
            _is_password,
            rf"(?i)authorization{_IS}(?:{_Q})?(?:(?:bearer|basic|token|digest|apikey|negotiate|[a-z][\w-]{{2,20}}(?=\s+[^\s\"'`,;]{{12}}))\s+)?",
            rf"{_LABEL}(?!(?:bearer|basic|token|digest|apikey)\s|[\w-]{{3,21}}\s+\[SECRET-)(?P<value>[^\s\"'`,;]{{6,}}(?:,\s?\w+=\S+)*)",
        ),
        (
            lambda match: bool(re.search(r"[0-9]", match["value"])) or is_random(match),
            rf"(?i)(?<![A-Za-z])(?:bearer|basic)\s+{_LABEL}(?P<value>[A-Za-z0-9._~+/=-]{{12,}})",
        ),
        rf"(?i)(?<![A-Za-z])(?:set-)?cookie:\s*{_LABEL}(?P<value>[^\s=]{{1,200}}=[^\n]+)",
    ),
    *rules(
        "SECRET",
        Sign.PASSWORD,
        # 비밀번호(임시): hunter2
        (_is_password, rf"(?i)(?:{_PASSWORD})(?:\s?\([^()\n]{{1,20}}\))?{_IS}{_VALUE}"),
        (_is_password, rf"(?i)(?<![A-Za-z])pw{_IS}{_VALUE}"),
        (_is_credential, rf"(?i)(?<![A-Za-z])pass{_IS}{_VALUE}"),
        # pw hunter87, "password - hunter87"
        (
            _is_spaced_password,
            rf"(?i)(?:{_PASSWORD}|(?<![A-Za-z])pw)(?:\s{{1,3}}(?:is\s|[-–—]\s)?|,\s){_LABEL}",
            r"(?P<value>(?=[^\s가-힣\"'`]{0,40}(?:[0-9!#$%^&*]|@(?![A-Za-z0-9-]{1,40}\.)))(?=[^\s가-힣\"'`]{0,40}[a-z])[^\s가-힣\"'`=:()\[\]\\|-][^\s가-힣\"'`:()\[\]\\|]{5,63})(?![A-Za-z0-9:(])",
        ),
        # 비번 hunter2!
        (
            None,
            rf"(?i){_PASSWORD}\s{{1,3}}{_LABEL}(?P<value>(?=[^\s가-힣\"'`]*[0-9])(?=[^\s가-힣\"'`]*[a-z])",
            r"(?=[^\s가-힣\"'`]*(?:[!#$%^*?~@&]|(?-i:[a-z][^\s가-힣\"'`]*[A-Z]|[A-Z][^\s가-힣\"'`]*[a-z])))",
            r"[^\s가-힣\"'`]{6,})",
        ),
        # 비밀번호 summer481
        (
            None,
            rf"(?:비밀\s?번호|비번|패스워드|암호)(?:은|는)?\s{{1,3}}{_LABEL}(?P<value>(?=[A-Za-z]{{1,40}}[0-9!#$%^*?~&]|(?:[A-Z]{{0,9}}[a-z]{{1,9}}[A-Z]){{2}})[A-Za-z0-9!#$%^*?~@&_.-]{{6,64}})",
            r"(?![A-Za-z0-9])",
        ),
    ),
    *rules(
        "SECRET",
        Sign.CREDENTIAL,
        # after two names in a row, the value belongs to the second
        (_is_credential, rf"(?i){_CREDENTIAL}{_IS}(?!{_CREDENTIAL}{_IS}){_VALUE}"),
        # crtfc_key '4f1c…', "the token is 4f1c…": a long value needs no equals sign
        (
            _is_random_value,
            rf"(?i){_CREDENTIAL}(?:\s?(?:은|는|이|가|을|를)|\s+(?:is|was))?[\s:=\"'`\\]{{1,6}}{_LABEL}",
            r"(?P<value>(?=[A-Za-z_-]{0,30}[0-9])[A-Za-z0-9_-]{32,256})(?![A-Za-z0-9_-])",
        ),
    ),
    *rules(
        "SECRET",
        Sign.PASSWORD | Sign.CREDENTIAL,
        # "password is hunter2", "비밀번호는 hunter2 입니다"
        (
            _is_password,
            rf"(?i){_EITHER}(?:\s?(?:은|는|이|가|을|를)|\s+(?:is|was|=))\s*(?:{_Q})?{_LABEL}",
            r"(?P<value>(?=[^\s가-힣\"'`]*[0-9!@#$%^&*])[^\s가-힣\"'`]{4,})",
        ),
        # --password hunter2
        (
            _is_password,
            rf"(?i)(?<![\w-])--?[a-z-]{{0,40}}(?:{_PASSWORD}|token|secret|api-?key|access-?key)",
            rf"(?:{_Q}\s*,\s*{_Q}|[ =]\s*(?:{_Q})?){_LABEL}(?P<value>[^\s\"'`“”‘’-][^\s\"'`“”‘’]{{2,}})",
        ),
    ),
    Rule(  # a private key without its first line
        "SECRET",
        r"(?<![A-Za-z0-9+/])M?II[A-Za-z0-9+/](?:[A-Za-z0-9+/=]|\s{1,3}(?=[A-Za-z0-9+/=])){60,}",
        Sign.DER,
    ),
    Rule(  # the body of a private key without its first line: lines of base64, or one long run
        "SECRET",
        r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{48,76}\s{1,3}(?![A-Z]?[a-z]+(?![A-Za-z0-9+/=]))){1,200}[A-Za-z0-9+/]{4,76}={0,2}"
        r"(?![A-Za-z0-9+/=_-])|(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{64,20000}={0,2}(?![A-Za-z0-9+/=_-])",
        Sign.KEY_BODY,
        is_key_body,
    ),
    Rule(
        "SECRET",
        r"(?<![\w-])(?:-u|--user)[ =]?[\"']?(?P<value>[^\s:\"'@/]{1,64}:[^\s\"'/]{2,})",
        Sign.USER_OPTION,
    ),
    *rules(
        "SECRET",
        _NAMED_SIGN,
        # {"name": "api_key", "value": "…"} inside a text
        (
            _is_password,
            rf"(?i){_MARK}(?:name|key|field|header|param|id|label){_Q}\s*:\s*{_Q}{_NAMED}{_Q}\s*,\s*{_Q}(?:value|val|data|content|default|secret){_Q}\s*:\s*{_VALUE}",
        ),
        (
            _is_password,
            rf"(?i){_MARK}(?:value|val){_Q}\s*:\s*{_VALUE}{_Q}\s*,\s*{_Q}(?:name|key|field|header){_Q}\s*:\s*{_Q}{_NAMED}{_Q}",
        ),
        (_is_credential, rf"(?i){_MARK}{_NAMED}{_Q}\s*,\s*{_VALUE}"),
        (_is_password, rf"(?i)<{_NAMED}>\s*{_LABEL}(?P<value>[^<\s]+)\s*<"),
    ),
)
