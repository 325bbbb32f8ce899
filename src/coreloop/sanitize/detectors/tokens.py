"""Credentials that their form alone gives away, as data: one row per form."""

import re
from dataclasses import dataclass
from typing import Final

_HEX: Final = "[0-9a-f]"
_UUID: Final = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_OBSERVED: Final = "observed"


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
        Where the issuer documents the form, or ``observed``.
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


def is_random(match: re.Match[str], group: int | str = 0) -> bool:
    """Whether a token looks random, not like joined words: digits or mixed case."""
    text = match[group]
    if re.search("x{8}|X{8}", text) or re.fullmatch(r"[a-z_.-]+[A-Z_-]+", text):  # sk-ant-YOUR_KEY_HERE
        return False
    return not re.fullmatch(r"[a-z_.-]+(?:[0-9]{1,2})?|[A-Z]{1,4}[a-z_.-]+", text)


def is_aws_secret(match: re.Match[str]) -> bool:
    """Whether 40 characters are random, not a hash or a path."""
    kinds = all(re.search(chars, match[0]) for chars in ("[0-9]", "[a-z]", "[A-Z]"))
    return kinds and not re.search("/[a-z]{4,}/|[a-z]{12}", match[0])


TOKENS: Final = (
    Token(
        "AWS access key id",
        "akia asia abia acca agpa aida aipa anpa anva aroa",
        r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|ANVA|AROA)[A-Z0-9]{16}(?![A-Z0-9])",
        "AKIA J7QX2M5RT9WZ4KDP",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
    ),
    Token(
        "AWS secret access key",
        "",
        r"(?<![/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        "qT7vB2nX/9Kd4Lm+ Zc6Rw1Yp8Hs3Jf5Ga0Ue2Iox",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
    ),
    Token(
        "Amazon Bedrock API key",
        "absk",
        "ABSK[A-Za-z0-9+/]{80,}={0,2}",
        "ABSK QmVkcm9ja0FQSUtleS1hYmNkLWF0LTEyMzQ1Njc4OTAxMjpLZXk3Rm45UXoyTHA0VHg4"
        "Vms2UndZMTJqM0g1ZzdEOXNBMWY=",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
    ),
    Token(
        "Amazon Bedrock short-term API key",
        "bedrock-api-key-",
        "bedrock-api-key-[A-Za-z0-9+/_-]{20,}={0,2}",
        "bedrock-api-key- YmVkcm9jay5hbWF6b25hd3MuY29tLz9BY3Rpb249Q2FsbFdpdGhCZWFyZXJUb2tlbg",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
    ),
    Token(
        "Azure AD client secret",
        "q~",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
        "x7K8Q~ vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2Io",
        _OBSERVED,
    ),
    Token(
        "Databricks",
        "dapi dose dkea",
        rf"(?:dapi|dose|dkea){_HEX}{{32}}(?:-[0-9])?",
        "dapi 4f1c9a7be20d83f65c0b19e7a4d2f836",
        "https://docs.databricks.com/en/dev-tools/auth/pat.html",
        gate=rf"d(?:api|ose|kea){_HEX}{{32}}",
    ),
    Token(
        "GitHub token",
        "ghp_ gho_ ghr_ ghs_ ghu_",
        "gh[oprsu]_[A-Za-z0-9]{16,255}",
        "ghp_ k2Jd8Sm4Qw6Zx1Cv5Bn9Lp3Ty7Ru0HgFeDaX",
        "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github",
    ),
    Token(
        "GitHub fine-grained token",
        "github_pat_",
        "github_pat_[A-Za-z0-9_]{16,255}",
        "github_pat_ 11ABCDE0Y0kq3J2nXf9vLm _ 7Tz4Rw1Yp8Hs3Jf5Ga0Ue2IoK6vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2IoVb",
        "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github",
    ),
    Token(
        "GitLab token",
        "glpat- gldt- glrt- glptt- glft- glimt- glagent- glsoat- glcbt- gloas-",
        "gl(?:pat|dt|rt|ptt|ft|imt|agent|soat|cbt|oas)-[A-Za-z0-9_.-]{16,}",
        "glpat- Xk7vB2nX9Kd4LmZc6Rw1",
        "https://docs.gitlab.com/security/tokens/",
    ),
    Token(
        "Anthropic",
        "sk-ant-",
        "sk-ant-[A-Za-z0-9_-]{12,}",
        "sk-ant- api03-Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2IoAA",
        _OBSERVED,
    ),
    Token(
        "OpenAI, OpenRouter",
        "sk-proj- sk-svcacct- sk-admin- sk-or- sk-none-",
        "sk-(?:proj|svcacct|admin|or|None)-[A-Za-z0-9_-]{12,}",
        "sk-proj- Xk7vB2nX9Kd4LmZc6Rw1T3BlbkFJYp8Hs3Jf5Ga0Ue2Io",
        _OBSERVED,
    ),
    Token(
        "OpenAI, DeepSeek",
        "sk-",
        "sk-[A-Za-z0-9]{20,}",
        "sk- 9f3a1c7be20d83f65c0b19e7a4d2f836",
        _OBSERVED,
        gate="sk-[a-z0-9]{20}",
    ),
    Token(
        "Langfuse",
        "sk-lf- pk-lf-",
        rf"[ps]k-lf-{_UUID}",
        "sk-lf- 5a7c1e90-4b2d-4f83-9c16-0d8e7a3b5f21",
        "https://langfuse.com/faq/all/lost-secret-key",
    ),
    Token(
        "LangSmith",
        "lsv2_ ls__",
        rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}|ls__{_HEX}{{32}}",
        "lsv2_pt_ 4f1c9a7be20d83f65c0b19e7a4d2f836 _ 0b19e7a4d2",
        _OBSERVED,
        gate=rf"lsv2_|ls__{_HEX}{{32}}",
    ),
    Token(
        "Google API key",
        "aiza",
        "AIza[A-Za-z0-9_-]{30,}",
        "AIza SyXk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0U",
        "https://cloud.google.com/docs/authentication/api-keys",
    ),
    Token(
        "Google OAuth access token",
        "ya29.",
        r"ya29\.[A-Za-z0-9_-]{16,}",
        "ya29. a0Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf",
        "https://developers.google.com/identity/protocols/oauth2/web-server",
    ),
    Token(
        "Google OAuth refresh token",
        "1//0",
        "1//0[A-Za-z0-9_-]{30,}",
        "1//0 gXk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2Io",
        "https://developers.google.com/identity/protocols/oauth2/web-server",
    ),
    Token(
        "Google OAuth client secret",
        "gocspx-",
        "GOCSPX-[A-Za-z0-9_-]{16,}",
        "GOCSPX- Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf",
        _OBSERVED,
    ),
    Token(
        "Google service account key id",
        "private_key_id",
        rf"private_key_id\W{{1,10}}(?P<value>{_HEX}{{40}})(?![0-9A-Za-z])",
        "private_key_id 'a4d2f8364f1c9a7be20d83f65c0b19e7a4d2f836'",
        "https://cloud.google.com/iam/docs/keys-create-delete",
    ),
    Token(
        "Slack token",
        "xox",
        "xox[abceoprs]-[A-Za-z0-9-]{10,}",
        "xoxb- 2148720394-5920174836-Xk7vB2nX9Kd4LmZc",
        "https://docs.slack.dev/authentication/tokens",
    ),
    Token(
        "Slack app token",
        "xapp-",
        "xapp-[A-Za-z0-9-]{10,}",
        "xapp- 1-A04QX7-59201748-4f1c9a7be20d",
        "https://docs.slack.dev/authentication/tokens",
    ),
    Token(
        "Slack webhook",
        "hooks.slack",
        r"hooks\.slack\.com/services/[A-Za-z0-9/]{10,}",
        "hooks.slack.com/ services/T04QX7B2N/B05Kd4LmZ/Xk7vB2nX9Kd4LmZc6Rw1Yp8H",
        "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
    ),
    Token(
        "Stripe",
        "k_live_ k_test_",
        "(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
        "sk_live_ 51Xk7vB2nX9Kd4LmZc6Rw1Yp",
        "https://docs.stripe.com/keys",
    ),
    Token(
        "Stripe, Svix webhook secret",
        "whsec_",
        "whsec_[A-Za-z0-9+/=]{16,}",
        "whsec_ Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0",
        "https://docs.stripe.com/webhooks",
    ),
    Token(
        "Twilio API key",
        "sk",
        rf"SK{_HEX}{{32}}(?![0-9A-Za-z])",
        "SK 4f1c9a7be20d83f65c0b19e7a4d2f836",
        "https://www.twilio.com/docs/iam/api-keys",
        gate=rf"sk{_HEX}{{32}}",
    ),
    Token(
        "Twilio auth token",
        "twilio",
        rf"(?<![0-9A-Za-z-]){_HEX}{{32}}(?![0-9A-Za-z-])",
        "twilio ␣ 4f1c9a7be20d83f65c0b19e7a4d2f836",
        "https://www.twilio.com/docs/iam/api/authtoken",
        near="(?i)twilio",
    ),
    Token(
        "Mailgun",
        "key- -",
        rf"(?:pub)?key-{_HEX}{{32}}(?![0-9A-Za-z])|(?<![0-9A-Za-z-]){_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}(?![0-9A-Za-z-])",
        "key- 4f1c9a7be20d83f65c0b19e7a4d2f836",
        "https://documentation.mailgun.com/docs/mailgun/api-reference/authentication/",
        gate=rf"key-{_HEX}{{32}}|{_HEX}{{32}}-{_HEX}{{8}}-",
    ),
    Token(
        "SendGrid",
        "sg.",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        "SG. Xk7vB2nX9Kd4LmZc6Rw1Yp . 8Hs3Jf5Ga0Ue2IoK6vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        gate=r"sg\.[a-z0-9_-]{16,}\.",
    ),
    Token(
        "Discord bot token",
        ".",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
        "MTA4NzY1NDMyMTA5ODc2NTQz . GkX7vB . 2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2IoK6vB2n",
        "https://discord.com/developers/docs/reference#authentication",
        gate=r"[mno][a-z0-9_-]{23,27}\.[a-z0-9_-]{6}\.[a-z0-9_-]{27}",
    ),
    Token(
        "Telegram bot token",
        ":aa",
        "[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
        "5920174836: AAXk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0U",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
    ),
    Token(
        "Supabase",
        "sbp_ sb_secret_",
        rf"sbp_{_HEX}{{40}}|sb_secret_[A-Za-z0-9_-]{{20,}}",
        "sb_secret_ Xk7vB2nX9Kd4LmZc6Rw1Y_8Hs3Jf5G",
        "https://supabase.com/docs/guides/api/api-keys",
    ),
    Token(
        "HashiCorp Vault",
        "hvs. hvb. hvr.",
        r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
        "hvs. CAESIXk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
    ),
    Token(
        "Doppler",
        "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
        "dp.st. prd.Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2IoK6v",
        "https://docs.doppler.com/docs/service-tokens",
        gate=r"dp\.(?:pt|st|ct|sa|scim|audit)\.",
    ),
    Token(
        "1Password service account",
        "ops_eyj",
        "ops_eyJ[A-Za-z0-9+/_-]{100,}={0,2}",
        "ops_eyJ zaWduSW5BZGRyZXNzIjoiZXhhbXBsZS4xcGFzc3dvcmQuY29tIiwidXNlckF1dGgiOnsibWV0aG9k"
        "IjoiU1JQZy00MDk2IiwiYWxnIjoiUEJFUzJnIn19",
        "https://developer.1password.com/docs/service-accounts/security/",
    ),
    Token(
        "1Password secret key",
        "a3-",
        "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Z0-9])",
        "A3- X7K2B9-M4LZC6-RW1YP-8HS3J-F5GA0-UE2IK",
        "https://support.1password.com/secret-key-security/",
    ),
    Token(
        "Pinecone",
        "pcsk_",
        "pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{40,}",
        "pcsk_ 4Xk7v_B2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2IoK6vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5G",
        _OBSERVED,
    ),
    Token(
        "ElevenLabs",
        "sk_",
        rf"sk_{_HEX}{{48}}(?![0-9A-Za-z])",
        "sk_ 4f1c9a7be20d83f65c0b19e7a4d2f8364f1c9a7be20d83f6",
        _OBSERVED,
        gate=rf"sk_{_HEX}{{48}}",
    ),
    Token(
        "npm",
        "npm_",
        "npm_[A-Za-z0-9]{20,}",
        "npm_ k2Jd8Sm4Qw6Zx1Cv5Bn9Lp3Ty7Ru0HgFeDaX",
        "https://docs.npmjs.com/about-access-tokens",
    ),
    Token(
        "PyPI",
        "pypi-",
        "pypi-[A-Za-z0-9_-]{16,}",
        "pypi- AgEIcHlwaS5vcmcCJDUxN2Y3",
        "https://pypi.org/help/#apitoken",
    ),
    Token(
        "Hugging Face",
        "hf_ hf-",
        "hf[_-][A-Za-z0-9_]{20,}",
        "hf_ XkvBnXKdLmZcRwYpHsJfGaUeIoKvBnXKdL2",
        "https://huggingface.co/docs/hub/security-tokens",
    ),
    Token(
        "DigitalOcean",
        "dop_v1 doo_v1",
        "do[op]_v1[_-][A-Za-z0-9_]{20,}",
        "dop_v1_ 4f1c9a7be20d83f65c0b19e7a4d2f8364f1c9a7be20d83f65c0b19e7a4d2f836",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
    ),
    Token(
        "Groq, Replicate, xAI",
        "gsk_ gsk- r8_ xai- xai_",
        "(?:gsk|r8|xai)[_-][A-Za-z0-9_]{20,}",
        "gsk_ Xk7vB2nX9Kd4LmZc6Rw1WGdyb3FYp8Hs3Jf5Ga0Ue2Io",
        _OBSERVED,
    ),
    Token(
        "Notion, Linear",
        "ntn_ ntn- lin_api",
        "(?:ntn|lin_api)[_-][A-Za-z0-9_]{20,}",
        "lin_api_ Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2Io",
        _OBSERVED,
    ),
    Token(
        "Shopify",
        "shpat shpss shpca",
        "shp(?:at|ss|ca)[_-][A-Za-z0-9_]{20,}",
        "shpat_ 4f1c9a7be20d83f65c0b19e7a4d2f836",
        "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
    ),
    Token(
        "Docker, RubyGems",
        "dckr_pat rubygems",
        "(?:dckr_pat|rubygems)[_-][A-Za-z0-9_-]{20,}",
        "dckr_pat_ Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3J",
        "https://docs.docker.com/security/access-tokens/",
    ),
    Token(
        "NVIDIA, Perplexity, Tavily, Figma",
        "nvapi pplx tvly figd",
        "(?:nvapi|pplx|tvly|figd)[_-][A-Za-z0-9_-]{20,}",
        "nvapi- Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2Io",
        _OBSERVED,
    ),
    Token(
        "OpenAI session",
        "sess- sess_",
        "sess[_-][A-Za-z0-9_-]{20,}",
        "sess- Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2Io",
        _OBSERVED,
    ),
    Token(
        "age secret key",
        "age-s",
        "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
        "AGE-SECRET-KEY-1 QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
        "https://age-encryption.org/v1",
    ),
    Token(
        "JSON Web Token",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{8,1024}+\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}",
        "eyJ hbGciOiJIUzI1NiJ9 . eyJzdWIiOiI0MiJ9 . s5Vw0k3Xq1Yb7Zc9Td2Ue4Rf6Gh8Jk0L",
        "https://www.rfc-editor.org/rfc/rfc7519",
    ),
    Token(
        "DART",
        "crtfc",
        rf"(?i:crtfc[_ -]?key)[^0-9A-Za-z\n]{{1,8}}(?P<value>{_HEX}{{40}})(?![0-9A-Za-z])",
        "crtfc_key␣'4f1c9a7be20d83f65c0b19e7a4d2f8364f1c9a7b'",
        "https://opendart.fss.or.kr/intro/main.do",
    ),
)
