"""Keys, tokens and passwords in the forms that their issuers document."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from random import Random
from uuid import UUID

from .kind import ALNUM, BASE64, BASE64_URL, DIGITS, HEX, LOWER, UPPER, Kind, Value, draw, words

Template = Callable[[Random], tuple[str, str]]
"""A credential as its public prefix and its secret rest."""
_JWT_HEADER = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
_JWT_CLAIMS = '{"sub":"%s","iat":1516239022}'
_BASE32 = UPPER + "234567"

# name, prefix and rest; documented by the issuer or in gitleaks' rules
_FORMS: tuple[tuple[str, Template], ...] = (
    (
        "OpenAI key",
        lambda c: c.choice(
            (
                ("sk-proj-", draw(c, BASE64_URL, 74)),
                ("sk-svcacct-", draw(c, BASE64_URL, 74)),
                ("sk-", draw(c, ALNUM, 48)),
            )
        ),
    ),
    (
        "`sk-` key of another issuer",
        lambda c: c.choice((("sk-", draw(c, HEX, 32)), ("sk-or-v1-", draw(c, HEX, 64)))),
    ),
    ("Anthropic key", lambda c: ("sk-ant-api03-", draw(c, BASE64_URL, 93) + "AA")),
    (
        "GitHub token",
        lambda c: c.choice(
            (
                ("ghp_", draw(c, ALNUM, 36)),
                ("gho_", draw(c, ALNUM, 36)),
                ("ghs_", draw(c, ALNUM, 36)),
                ("github_pat_", f"{draw(c, ALNUM, 22)}_{draw(c, ALNUM, 59)}"),
            )
        ),
    ),
    ("GitLab token", lambda c: ("glpat-", draw(c, BASE64_URL, 20))),
    ("AWS access key id", lambda c: (c.choice(("AKIA", "ASIA")), draw(c, _BASE32, 16))),
    ("Databricks token", lambda c: ("dapi", draw(c, HEX, 32) + c.choice(("", "-2")))),
    (
        "Bedrock key",
        lambda c: (
            "ABSK",
            b64encode(
                f"BedrockAPIKey-{draw(c, ALNUM, 4)}-at-{draw(c, DIGITS, 12)}:{draw(c, BASE64, 44)}".encode()
            ).decode(),
        ),
    ),
    (
        "Azure AD client secret",
        lambda c: ("", f"{draw(c, ALNUM, 3)}{draw(c, DIGITS, 1)}Q~{draw(c, ALNUM + '_.-', 34)}"),
    ),
    (
        "Google key",
        lambda c: c.choice((("AIza", draw(c, BASE64_URL, 35)), ("GOCSPX-", draw(c, BASE64_URL, 28)))),
    ),
    ("Twilio key", lambda c: ("SK", draw(c, HEX, 32))),
    ("Mailgun key", lambda c: ("key-", draw(c, HEX, 32))),
    (
        "Discord bot token",
        lambda c: (
            "",
            ".".join((_base64(draw(c, "123456789", 18)), draw(c, BASE64_URL, 6), draw(c, BASE64_URL, 38))),
        ),
    ),
    (
        "LangSmith key",
        lambda c: (c.choice(("lsv2_pt_", "lsv2_sk_")), f"{draw(c, HEX, 32)}_{draw(c, HEX, 10)}"),
    ),
    ("Langfuse key", lambda c: ("sk-lf-", str(UUID(int=c.getrandbits(128), version=4)))),
    (
        "Supabase key",
        lambda c: c.choice(
            (
                ("sbp_", draw(c, HEX, 40)),
                ("sb_secret_", f"{draw(c, BASE64_URL, 22)}_{draw(c, BASE64_URL, 8)}"),
            )
        ),
    ),
    ("Vault token", lambda c: ("hvs.", f"CAESI{draw(c, BASE64_URL, 90)}")),
    ("Doppler token", lambda c: ("dp.pt.", draw(c, ALNUM, 43))),
    (
        "1Password token",
        lambda c: c.choice(
            (
                ("ops_eyJ", draw(c, ALNUM, 250)),
                ("A3-", "-".join(draw(c, UPPER + DIGITS, size) for size in (6, 6, 5, 5, 5, 5))),
            )
        ),
    ),
    ("Pinecone key", lambda c: ("pcsk_", f"{draw(c, ALNUM, 6)}_{draw(c, ALNUM, 63)}")),
    ("ElevenLabs key", lambda c: ("sk_", draw(c, HEX, 48))),
    (
        "Slack token",
        lambda c: (
            c.choice(("xoxb-", "xoxp-")),
            f"{draw(c, DIGITS, 12)}-{draw(c, DIGITS, 13)}-{draw(c, ALNUM, 24)}",
        ),
    ),
    ("Stripe key", lambda c: (c.choice(("sk_live_", "rk_live_")), draw(c, ALNUM, c.choice((24, 99))))),
    ("Hugging Face token", lambda c: ("hf_", draw(c, ALNUM, 34))),
    (
        "JSON web token",
        lambda c: (
            f"{_JWT_HEADER}.",
            f"{_json64(_JWT_CLAIMS % draw(c, DIGITS, 10))}.{draw(c, BASE64_URL, 43)}",
        ),
    ),
)


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _json64(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _maker(template: Template) -> Callable[[Random], Value]:
    def make(chance: Random) -> Value:
        prefix, rest = template(chance)
        return Value(prefix + rest, (rest,))

    return make


def aws_secret(chance: Random) -> Value:
    return Value(draw(chance, BASE64, 40))


def hex_key(chance: Random) -> Value:
    return Value(draw(chance, HEX, 40))


def password(chance: Random) -> Value:
    word = chance.choice(words("summer dragon hunter winter monkey seoul coffee rocket"))
    strong = draw(chance, ALNUM, 8) + chance.choice("!@#$%^&*") + draw(chance, ALNUM, 3)
    return Value(
        chance.choice(
            (
                f"{word.capitalize()}{draw(chance, DIGITS, 4)}!",
                strong,
                strong,
                f"{word}{draw(chance, DIGITS, 3)}",
                f"xxxx{word}{draw(chance, DIGITS, 2)}",
                f"***{word}{draw(chance, DIGITS, 2)}",
            )
        )
    )


def database_url(chance: Random) -> Value:
    secret = draw(chance, ALNUM, 12)
    scheme = chance.choice(("postgres", "mysql", "mongodb+srv", "redis"))
    return Value(
        f"{scheme}://{draw(chance, LOWER, 6)}:{secret}@db-{draw(chance, DIGITS, 2)}.firm.internal/main",
        (secret,),
    )


def private_key(chance: Random) -> Value:
    lines = [draw(chance, BASE64, 64) for _ in range(chance.choice((3, 12, 25)))]
    label = chance.choice(("RSA ", "", "OPENSSH ", "EC "))
    text = "\n".join((f"-----BEGIN {label}PRIVATE KEY-----", *lines, f"-----END {label}PRIVATE KEY-----"))
    return Value(text, (lines[0], lines[-1]))


KINDS = (
    *(
        Kind(name, _maker(template), keys=("api_key", "token", "memo"), disguises="token")
        for name, template in _FORMS
    ),
    Kind(
        "AWS secret key",
        aws_secret,
        beside=(
            "aws_secret_access_key = {}",
            "AWS_SECRET_ACCESS_KEY={}",
            "secret key {}",
            "secret access key: {}",
        ),
        keys=("secretAccessKey", "aws_secret_access_key"),
        disguises="token",
    ),
    Kind(
        "key beside its word",
        hex_key,
        beside=(
            "crtfc_key '{}'",
            'crtfc_key "{}"',
            "crtfc_key={}",
            "api_key: {}",
            "API key is {}",
            "인증키는 {}",
            "Authorization: Bearer {}",
            "x-api-key: {}",
            "?crtfc_key={}&corp_code=00126380",
            "apikey '{}'",
        ),
        bare=False,
        keys=("crtfc_key", "apiKey", "access_token", "client_secret"),
        disguises="token",
    ),
    Kind(
        "password beside its word",
        password,
        beside=(
            "password={}",
            "password: {}",
            "my password is {}",
            "pw: {}",
            "비밀번호는 {} 입니다",
            "비번: {}",
            "비밀번호 {}",
            "passwd={}",
            "PASSWORD='{}'",
            "암호: {}",
            "--password {}",
        ),
        bare=False,
        keys=("password", "passwd", "비밀번호", "db_password"),
        disguises="secret",
    ),
    Kind("connection URL with a password", database_url, keys=("dsn", "DATABASE_URL"), disguises="token"),
    Kind("private key", private_key, keys=("key", "pem"), disguises="block"),
)
