"""Every row of the table of credentials finds its example, alone and in a text, and not its near miss."""

import re

from coreloop.sanitize.detectors.secrets import TOKENS
from coreloop.sanitize.find_in_text import sanitize_text
from coreloop.sanitize.find_in_value import find_in_value
from rows import each_row

HEX = "4f1c9a7be20d83f65c0b19e7a4d2f836"
NEAR_MISSES = {
    "AWS access key id": "AKIA J7QX2M5RT9WZ4KD",
    "AWS secret access key": f"aws ␣ {HEX}4f1c9a7b",  # a Git commit
    "Amazon Bedrock API key": "ABSK-quarter",
    "Amazon Bedrock short-term API key": "bedrock-api-key-rotation",
    "Azure AD client secret": "abc8Q~short",
    "Databricks": "dapi-connector",
    "GitHub token": "ghp_short",
    "GitHub fine-grained token": "github_pat_rotation",
    "GitLab token": "glpat-expired",
    "Anthropic": "sk-ant-version",
    "OpenAI, OpenRouter": "sk-or-rejected",
    "OpenAI, DeepSeek": "sk-learn",
    "Langfuse": "sk-lf-something",
    "LangSmith": "lsv2_pt_rotation",
    "Google API key": "AIzawa",
    "Google OAuth access token": "ya29.expired",
    "Google OAuth refresh token": "1//0 ␣ rows",
    "Google OAuth client secret": "GOCSPX-prefix",
    "Google service account key id": "private_key_id ␣ missing",
    "Slack token": "xoxb-token",
    "Slack app token": "xapp-1",
    "Slack webhook": "hooks.slack.com/services/T0",
    "Stripe": "sk_live_key",
    "Stripe, Svix webhook secret": "whsec_missing",
    "Twilio API key": f"SK{HEX}0",
    "Twilio auth token": f"commit ␣ {HEX}",
    "Mailgun": "key-value",
    "SendGrid": "SG.population.density",
    "Discord bot token": "Numbers.of.members",
    "Telegram bot token": "12345678:AA",
    "Supabase": "sbp_token",
    "HashiCorp Vault": "hvs.token",
    "Doppler": "gdp.st.louis",
    "1Password service account": "ops_eyJ",
    "1Password secret key": "A3-PAPER",
    "Pinecone": "pcsk_index",
    "ElevenLabs": "task_4f1c9a7be20d83f6",
    "npm": "npm_config",
    "PyPI": "pypi-mirror",
    "Hugging Face": "hf_hub",
    "DigitalOcean": "dop_v1",
    "Groq, Replicate, xAI": "xai-research",
    "Notion, Linear": "lin_api_limit",
    "Cloudflare": "cfat_rotation",
    "Vercel": "vcp_rotation",
    "Together, Weights & Biases, Jina, E2B, Apify": "jina_embeddings",
    "Cerebras, Fireworks, Firecrawl": "fc-barcelona",
    "Fly.io, PlanetScale, Neon, Netlify, Render": "pscale_tkn_rotation",
    "Terraform Cloud, Pulumi, Prefect, Buildkite, CircleCI": "pul-request",
    "SonarQube, Tailscale, OpenShift, JFrog, Dynatrace": f"sha256~{HEX}",
    "Airtable, Contentful, PostHog, Typeform": "patterns.of.speech",
    "Square, Brevo, MailerSend, Resend, Duffel, Plaid": "re_index_all_documents",
    "Google Gemini key, Alibaba Cloud, Dropbox": "sl.word",
    "Shopify": "shpat_scopes",
    "Docker, RubyGems": "rubygems-mirror",
    "NVIDIA, Perplexity, Tavily, Figma": "pplx-online",
    "Atlassian": "ATATT3-expired",
    "Grafana": "glsa_rotation",
    "Sentry": "sntryu_rotation",
    "Heroku": "HRKU-AA-prefix",
    "Postman, New Relic": "PMAK-prefix",
    "OpenAI session": "sess-timeout",
    "age secret key": "AGE-SECRET-KEY-1",
    "JSON Web Token": "eyJhbGci",
    "DART": "crtfc_key␣missing",
}


def test_every_row_has_a_near_miss() -> None:
    assert [token.name for token in TOKENS] == list(NEAR_MISSES)


@each_row("token", TOKENS, ids=lambda token: token.name)
def test_a_row_finds_its_example(token) -> None:
    text = token.sample
    match = re.search(token.pattern, text)
    assert match is not None
    value = match["value"] if "value" in match.re.groupindex else match[0]
    for written in (text, f"요청에 {text} 포함", f"use {text}, then retry"):
        masked = sanitize_text(written)
        assert value not in masked
        assert "[SECRET-1]" in masked


OTHER_FORMS = (
    "dp.said. bAqhcVzrhy5cRHkOlNTc0Ve6w5NUDCpcutm8vGE9myi",
    "glffct- Xk7vB2nX9Kd4LmZc6Rw1",
    "GR1348941 Xk7vB2nX9Kd4LmZc6Rw1",
    f"sbp_ oauth_{HEX}4f1c9a7b",
    "1// xEoDL4iW3cxlI7yDbSRFYNG01kVKM2C-259HO",
    "api_org_ XkvBnXKdLmZcRwYpHsJfGaUeIoKvBnXKdL",
    f"dor_v1_ {HEX}{HEX}",
    f"shppa_ {HEX}",
    "dckr_oat_ Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3J",
    "glc_ Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2Io",
    "NRAK- X7K2B9M4LZC6RW1YP8HS3JF5GA0",
    "ATCTT3 xFfGF0Xk7vB2nX9Kd4LmZc6Rw1Yp8Hs3Jf5Ga0Ue2IoK6vB2nX9Kd4LmZc6Rw1Yp8H=7A3B1F0C",
)


@each_row("form", OTHER_FORMS)
def test_the_other_forms_of_a_row_are_masked(form: str) -> None:
    assert sanitize_text(f"use {form.replace(' ', '')} now") == "use [SECRET-1] now"


@each_row("token", TOKENS, ids=lambda token: token.name)
def test_a_near_miss_stays(token) -> None:
    text = NEAR_MISSES[token.name].replace(" ", "").replace("␣", " ")
    assert sanitize_text(text) == text


@each_row("value", ["xxxxhunter2", "***hunter2", "redacted-hunter2", "XXXX9hunter"])
def test_a_password_that_begins_like_a_placeholder_is_masked(value: str) -> None:
    assert sanitize_text(f"password={value}") == "password=[SECRET-1]"


@each_row("value", ["xxxx", "xxxxxxxx", "***", "********", "[redacted]", "REDACTED", "<password>"])
def test_a_placeholder_stays(value: str) -> None:
    assert sanitize_text(f"password={value} ok") == f"password={value} ok"


@each_row("text", [f"sk-{HEX}", f"key-{HEX}"])
def test_a_key_of_hexadecimal_digits_is_not_taken_for_a_hash(text: str) -> None:
    assert [hit.kind for hit in find_in_value(text, "value")] == ["SECRET"]


@each_row("text", [f"crtfc_key '{HEX}4f1c9a7b'", f'API 키는 "{HEX}"', f"the token is {HEX}"])
def test_a_long_value_beside_a_word_for_a_credential_needs_no_equals_sign(text: str) -> None:
    assert HEX not in sanitize_text(text)
