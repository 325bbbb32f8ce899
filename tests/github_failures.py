"""Every way in which GitHub or the way to it can fail, and what coreloop says then."""

from coreloop.base.errors import (
    ForgeError,
    ForgeForbiddenError,
    ForgeNotFoundError,
    ForgeUnavailableError,
    PullRequestExistsError,
)
from github_stand_in import Fault, Reply


def said(status: int, message: str, *problems: object, **headers: str) -> Fault:
    """An answer as GitHub words its errors."""
    return Fault(Reply(status, {"message": message, "errors": list(problems)}, _headers(headers)))


def raw(body: bytes, status: int = 200, **headers: str) -> Fault:
    """An answer that is wrong in itself."""
    return Fault(Reply(status, body, _headers(headers)))


def _headers(named: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in named.items()}


TOKEN = "set GITHUB_TOKEN or GH_TOKEN to a valid token"
RIGHTS = "give it access to the repository: contents and pull requests, read and write"
REPO = "check repo and base under forge: in coreloop.yaml, and that the token may see the repository"
ROUTE = "check GITHUB_API_URL and any proxy"
NETWORK = "check the network and GITHUB_API_URL, then run the same command again"
LATER = "run the same command again later; it continues where it stopped"
CORRECT = "correct this and run the same command again"
LIMIT = "GitHub's rate limit is exceeded"
ODD = "the answer does not match GitHub's API"
DOWN = "GitHub is unavailable"
LOST = "the connection failed"

LINE = r"first \u{1b}[31msecond\u{202e} third" + "x" * 300
NO_ACCESS = "Resource not accessible by integration"
BASE_INVALID = {"resource": "PullRequest", "field": "base", "code": "invalid"}
EXISTS = {"code": "custom", "message": "A pull request already exists for octo:x."}
NO_DRAFTS = "Draft pull requests are not supported in this repository."
OTP = "Must specify two-factor authentication OTP code."

# name, what happens, error, message (None: in the words of the machine's decoder)
# fmt: off
FAILURES = [
    ("bad-token", said(401, "Bad credentials"),
     ForgeError, f"the token is not accepted (401: Bad credentials); {TOKEN}"),
    ("second-factor", said(401, OTP, X_GitHub_OTP="required; app"),
     ForgeError, f"the token is not accepted (401: {OTP}); {TOKEN}"),
    ("no-right", said(403, NO_ACCESS),
     ForgeForbiddenError, f"the token may not do this (403: {NO_ACCESS}); {RIGHTS}"),
    ("rate-limit", said(403, "API rate limit exceeded for user ID 1.", X_RateLimit_Reset="1777118400"),
     ForgeError, f"{LIMIT} (403); run the same command again after 2026-04-25 12:00:00 UTC"),
    ("rate-limit-by-header", said(403, "no", X_RateLimit_Remaining="0", X_RateLimit_Limit="5000"),
     ForgeError, f"{LIMIT} (403); run the same command again in a few minutes"),
    ("rate-limit-odd-time", said(403, "API rate limit exceeded", X_RateLimit_Reset="9" * 20),
     ForgeError, f"{LIMIT} (403); run the same command again in a few minutes"),
    ("secondary-rate-limit", said(403, "You have exceeded a secondary rate limit."),
     ForgeError, f"{LIMIT} (403); run the same command again in a few minutes"),
    ("too-often", said(429, "Too many requests", Retry_After="60"),
     ForgeError, f"{LIMIT} (429); run the same command again in 60 s"),
    ("no-such-repository", said(404, "Not Found"),
     ForgeNotFoundError, f"not found (404: Not Found); {REPO}"),
    ("conflict", said(409, "Git Repository is empty."),
     ForgeError, f"GitHub refused (409: Git Repository is empty.); {CORRECT}"),
    ("invalid", said(422, "Validation Failed", BASE_INVALID),
     ForgeError, f"GitHub refused (422: Validation Failed; base invalid); {CORRECT}"),
    ("invalid-told-as-text", said(422, "Validation Failed", "The title is too long"),
     ForgeError, f"GitHub refused (422: Validation Failed; The title is too long); {CORRECT}"),
    ("no-drafts", said(422, NO_DRAFTS),
     ForgeError, f"GitHub refused (422: {NO_DRAFTS}); {CORRECT}"),
    ("exists", said(422, "Validation Failed", EXISTS),
     PullRequestExistsError, "the branch has an open pull request "
                             f"(422: Validation Failed; {EXISTS['message']}); "
                             "review it on GitHub, and close it if it is not needed"),
    ("many-lines", said(422, "first\n\x1b[31msecond\u202e\tthird" + "x" * 300),
     ForgeError, f"GitHub refused (422: {LINE[:199]}…); {CORRECT}"),
    ("server-error", said(500, ""), ForgeUnavailableError, f"{DOWN} (500); {LATER}"),
    ("server-error-page", raw(b"<html>502</html>", 502), ForgeUnavailableError, f"{DOWN} (502); {LATER}"),
    ("server-error-list", raw(b"[1]", 503), ForgeUnavailableError, f"{DOWN} (503); {LATER}"),
    ("server-error-text", raw(b'"x"', 504), ForgeUnavailableError, f"{DOWN} (504); {LATER}"),
    ("server-error-number", raw(b'{"message": 5}', 500), ForgeUnavailableError, f"{DOWN} (500); {LATER}"),
    ("dropped", Fault(), ForgeUnavailableError, f"{LOST}; {NETWORK}"),
    ("slow", Fault(delay_s=20), ForgeUnavailableError, f"no answer within 1 s; {NETWORK}"),
    ("cut-short", raw(b"[]", Content_Length="9"), ForgeUnavailableError, f"{LOST}; {NETWORK}"),
    ("broken-json", raw(b'[{"number": 1'), ForgeError, None),
    ("login-page", raw(b"<html>Sign in</html>"),
     ForgeError, f"{ODD} (JSON is malformed: Expecting value: line 1 column 1 (char 0)); {ROUTE}"),
    ("empty", raw(b""), ForgeError, None),
    ("another-shape", raw(b'[{"number": "1"}]'),
     ForgeError, f"{ODD} (Expected `int`, got `str` - at `$[0].number`); {ROUTE}"),
    ("null", raw(b"null"), ForgeError, f"{ODD} (Expected `array`, got `null`); {ROUTE}"),
    ("not-utf-8", raw(b'[{"title": "\xff"}]'), ForgeError, None),
    ("sent-elsewhere", raw(b"{}", 301, Location="http://elsewhere.example/x"), ForgeNotFoundError,
     "the repository has moved (301); set forge: repo to its current name in coreloop.yaml"),
    ("moved-for-now", raw(b"{}", 307, Location="http://elsewhere.example/x"), ForgeNotFoundError,
     "the repository has moved (307); set forge: repo to its current name in coreloop.yaml"),
]
# fmt: on
