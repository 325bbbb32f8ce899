"""Forms of credentials, as credentials.toml lists them; and whether a match looks random."""

import base64
import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

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
