"""Secrets in their vendors' formats: prefixes, lengths and checksums are right, everything else is random."""

import base64
import json
import random
import string
import textwrap
import zlib
from collections.abc import Callable
from typing import Final

from planted.value import BASE62, Core, Value, digits, token

_URL_SAFE: Final = BASE62 + "-_"
_WINDOW: Final = 12
_DER: Final = bytes.fromhex("308204bd020100")
_PASSWORD_SIGNS: Final = "!#$%^*?~"


def _prefixed(prefix: str, body: str) -> Value:
    return Value(prefix + body, (Core(body, _WINDOW),))


def _checksummed(rng: random.Random, prefix: str) -> Value:
    """GitHub's form, and npm's: 30 random characters and their CRC-32 in base 62."""
    body, left, check = token(rng, 30), 0, ""
    left = zlib.crc32(body.encode())
    while left:
        left, place = divmod(left, 62)
        check = BASE62[place] + check
    return _prefixed(prefix, body + check.rjust(6, "0"))


def aws(rng: random.Random) -> Value:
    if rng.random() < 0.5:
        return _prefixed(rng.choice(("AKIA", "ASIA")), token(rng, 16, string.ascii_uppercase + "234567"))
    name = rng.choice(("aws_secret_access_key=", "AWS_SECRET_ACCESS_KEY: ", "secretAccessKey = "))
    return _prefixed(name, token(rng, 40, BASE62 + "+/"))


def github(rng: random.Random) -> Value:
    if rng.random() < 0.3:
        return _prefixed("github_pat_", f"{token(rng, 22)}_{token(rng, 59)}")
    return _checksummed(rng, rng.choice(("ghp_", "gho_", "ghs_", "ghu_", "ghr_")))


def gitlab(rng: random.Random) -> Value:
    return _prefixed(rng.choice(("glpat-", "gldt-", "glrt-")), token(rng, 20, _URL_SAFE))


def openai(rng: random.Random) -> Value:
    prefix, half = rng.choice((("sk-", 20), ("sk-proj-", 74), ("sk-svcacct-", 74)))
    return _prefixed(prefix, f"{token(rng, half)}T3BlbkFJ{token(rng, half)}")


def anthropic(rng: random.Random) -> Value:
    return _prefixed(rng.choice(("sk-ant-api03-", "sk-ant-admin01-")), token(rng, 93, _URL_SAFE) + "AA")


def google(rng: random.Random) -> Value:
    prefix, length = rng.choice((("AIza", 35), ("GOCSPX-", 28), ("ya29.a0", 120)))
    return _prefixed(prefix, token(rng, length, _URL_SAFE))


def slack(rng: random.Random) -> Value:
    if rng.random() < 0.3:
        team, bot = (token(rng, 9, string.ascii_uppercase + string.digits) for _ in range(2))
        return _prefixed(f"https://hooks.slack.com/services/T{team}/B{bot}/", token(rng, 24))
    return _prefixed(f"{rng.choice(('xoxb', 'xoxp'))}-{digits(rng, 12)}-{digits(rng, 13)}-", token(rng, 24))


def stripe(rng: random.Random) -> Value:
    prefix, length = rng.choice((("sk_live_", 24), ("rk_live_", 24), ("sk_live_51", 97)))
    return _prefixed(prefix, token(rng, length))


def npm(rng: random.Random) -> Value:
    return _checksummed(rng, "npm_")


def pypi(rng: random.Random) -> Value:
    return _prefixed("pypi-AgEIcHlwaS5vcmc", token(rng, 150, _URL_SAFE))


def hugging_face(rng: random.Random) -> Value:
    return _prefixed("hf_", token(rng, 34, string.ascii_letters))


def jwt(rng: random.Random) -> Value:
    claims = {"sub": token(rng, 10), "iat": rng.randint(1_700_000_000, 1_790_000_000), "role": "analyst"}
    head, payload = (
        _base64(json.dumps(part, separators=(",", ":"))) for part in ({"alg": "HS256", "typ": "JWT"}, claims)
    )
    signature = token(rng, 43, _URL_SAFE)
    return Value(f"{head}.{payload}.{signature}", (Core(payload, 16), Core(signature, _WINDOW)))


def pem(rng: random.Random) -> Value:
    body = base64.b64encode(_DER + rng.randbytes(rng.choice((121, 318)))).decode()
    kind = rng.choice(("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"))
    lines = "\n".join(textwrap.wrap(body, 64))
    return Value(f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----", (Core(body[12:], 24),))


def password(rng: random.Random) -> Value:
    text = token(rng, 9) + rng.choice(_PASSWORD_SIGNS) + token(rng, rng.randint(2, 6))
    form = rng.choice(
        (
            "password={}",
            "passwd: {}",
            "pwd={}",
            "비밀번호: {}",
            "비밀번호는 {}",
            "비번 {}",
            'secret: "{}"',
            "client_secret={}",
            '{{"password": "{}"}}',
            "PASSWORD = '{}'",
            "--password {}",
            "--password={}",
        )
    )
    return Value(form.format(text), (Core(text, 8),))


def authorization(rng: random.Random) -> Value:
    user, body = _base64(f"{token(rng, 8)}:{token(rng, 14)}"), token(rng, 40, _URL_SAFE)
    if rng.random() < 0.3:
        return _prefixed("Authorization: Basic ", user)
    return _prefixed(
        rng.choice(("Authorization: Bearer ", "authorization=Bearer ", "-H 'Authorization: Token ")), body
    )


def connection_string(rng: random.Random) -> Value:
    user, secret, host = f"svc{token(rng, 6)}", token(rng, 16), f"db{digits(rng, 4)}.internal"
    form = rng.choice(
        (
            "postgresql://{u}:{s}@{h}:5432/finance",
            "postgres+psycopg://{u}:{s}@{h}/dart",
            "mysql://{u}:{s}@{h}/prices",
            "mongodb+srv://{u}:{s}@{h}/?retryWrites=true",
            "redis://:{s}@{h}:6379/0",
            "amqp://{u}:{s}@{h}/audit",
            "Server={h};Database=fin;User Id={u};Password={s};",
            "DefaultEndpointsProtocol=https;AccountName={u};AccountKey={s}{s}{s}{s}{s}aa==;",
            "host={h} user={u} password={s} dbname=krx",
        )
    )
    return Value(form.format(u=user, s=secret, h=host), (Core(secret, 10),))


def opaque(rng: random.Random) -> Value:
    """High entropy and no form: a secret only by the key above it or the word beside it."""
    alphabet = rng.choice((BASE62, "0123456789abcdef", _URL_SAFE))
    body = token(rng, rng.choice((32, 40, 48)), alphabet)
    return Value(body, (Core(body, _WINDOW),))


def _base64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


KINDS: Final[dict[str, Callable[[random.Random], Value]]] = {
    "AWS": aws,
    "GitHub": github,
    "GitLab": gitlab,
    "OpenAI": openai,
    "Anthropic": anthropic,
    "Google": google,
    "Slack": slack,
    "Stripe": stripe,
    "npm": npm,
    "PyPI": pypi,
    "Hugging Face": hugging_face,
    "JWT": jwt,
    "PEM": pem,
    "password": password,
    "authorization": authorization,
    "connection string": connection_string,
}
SENSITIVE_KEYS: Final = (
    "api_key",
    "apiKey",
    "API-KEY",
    "x-api-key",
    "secret",
    "client_secret",
    "access_token",
    "refresh_token",
    "auth_token",
    "password",
    "private_key",
    "OPENAI_API_KEY",
    "dart_api_key",
    "인증키",
    "비밀번호",
    "crtfc_key",
)
FLAGS: Final = ("--token", "--api-key", "--password", "--secret", "--auth-token")
