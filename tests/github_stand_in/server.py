"""The server: state, the operations that coreloop uses, faults on demand."""

import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from github_stand_in import bodies
from github_stand_in.traffic import Fault, Reply, Request

FIRST_DAY = datetime(2026, 4, 1, tzinfo=UTC)

NOT_FOUND = Reply(404, bodies.error("Not Found", status=404))
FORBIDDEN = Reply(403, bodies.error("Resource not accessible by personal access token", status=403))


def sha_of_name(branch: str) -> str | None:
    """Every branch exists, each with a commit of its own."""
    return hashlib.sha1(branch.encode()).hexdigest()


@dataclass(slots=True)
class _Planned:
    fault: Fault
    verb: str | None
    path: str
    wait: int
    times: int

    def strikes(self, request: Request) -> bool:
        if self.times == 0 or self.verb not in (None, request.verb) or self.path not in request.path:
            return False
        if self.wait > 0:
            self.wait -= 1
            return False
        self.times -= 1
        return True


class GithubStandIn:
    """One repository on a GitHub of its own, on this machine.

    Parameters
    ----------
    repo, token : str
        The repository there is and the token that opens it.
    sha_of : Callable[[str], str | None]
        Commit of a pushed branch, None where there is none: a test with a real remote asks git here.

    Attributes
    ----------
    url : str
        Where a client should go; a proxy's address can be put here.
    traffic : list[Request]
        All that came, in order.
    issues : list[bodies.Issue]
        Those that are no pull request; their numbers begin with 1001.
    comments : list[bodies.Comment]
        Under pull requests and issues, by a workflow unless their author says otherwise.
    rulesets, protections : dict[str, int | None]
        Approvals that a branch's ruleset or classic protection asks for; None: it asks for other things only.
    required : list[str]
        Statuses that every ruleset requires.
    other_pusher : bool
        Whether every ruleset wants the last push approved by someone else.
    rights : "admin" | "write" | "app"
        Who does not administer reads a protection as 404, an app or a fine-grained token as 403.
    put : dict[str, dict]
        Classic protection of branches as it was sent.
    pushed_by : dict[str, str]
        Logins by the commit that they pushed, as the repository's activity names them.
    messages : dict[str, str]
        Messages of commits; the others have one that says nothing.
    statuses : dict[str, list[dict]]
        Commit statuses as they were sent, by commit.
    allow_auto_merge : bool
        A setting of the repository.
    green : set[str]
        Files of workflows with a run that succeeded.
    owners_errors : list[dict] | None
        What GitHub finds wrong with CODEOWNERS; None: there is no such file.
    moved_to : str | None
        Present name of the repository; asking by the old one is redirected.
    """

    def __init__(
        self,
        *,
        repo: str = "octo/tools",
        token: str = "token-of-the-stand-in",
        sha_of: Callable[[str], str | None] = sha_of_name,
    ) -> None:
        self.repo = repo
        self.token = token
        self._first_sha_of = sha_of
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._server = _Server(self)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.url = self.address
        self.reset()

    def reset(self) -> None:
        """Forget pull requests, rules, faults and traffic, and whose branches there are."""
        self.sha_of = self._first_sha_of
        self.traffic: list[Request] = []
        self.pulls: list[bodies.Pull] = []
        self.issues: list[bodies.Issue] = []
        self.comments: list[bodies.Comment] = []
        self.rulesets: dict[str, int | None] = {}
        self.protections: dict[str, int | None] = {}
        self.required: list[str] = []
        self.other_pusher = False
        self.rights: Literal["admin", "write", "app"] = "admin"
        self.moved_to: str | None = None
        self.put: dict[str, bodies.Json] = {}
        self.pushed_by: dict[str, str] = {}
        self.messages: dict[str, str] = {}
        self.statuses: dict[str, list[bodies.Json]] = {}
        self.allow_auto_merge = True
        self.green = {"ai-policy.yml"}
        self.owners_errors: list[bodies.Json] | None = []
        self._planned: list[_Planned] = []

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def writes(self) -> list[str]:
        """What was asked that may change something."""
        return [request.line for request in self.traffic if request.verb != "GET"]

    def fail(
        self, fault: Fault, *, verb: str | None = None, path: str = "", nth: int = 1, times: int = 1
    ) -> None:
        """Let the `nth` request that fits `verb` and a part of its path go wrong, `times` in a row."""
        with self._lock:
            self._planned.append(_Planned(fault, verb, path, wait=nth - 1, times=times))

    def add_pull(
        self,
        *,
        branch: str,
        title: str = "a change",
        body: str | None = "",
        base: str = "main",
        draft: bool = True,
        state: Literal["open", "closed", "merged"] = "open",
        fork: str | None = None,
    ) -> bodies.Pull:
        """Put a pull request there, as somebody else would have; each a minute younger than the last."""
        with self._lock:
            number = len(self.pulls) + 1
            at = FIRST_DAY + timedelta(minutes=number)
            shas = {"head_sha": self.sha_of(branch) or "", "base_sha": self.sha_of(base) or ""}
            pull = bodies.Pull(
                number, title, body, branch, base, created_at=at, draft=draft, labels=[], fork=fork, **shas
            )
            pull.state = "open" if state == "open" else "closed"
            pull.merged_at = at if state == "merged" else None
            self.pulls.append(pull)
            return pull

    def handle(self, request: Request) -> Reply | None:
        """The answer; None drops the connection."""
        with self._lock:
            self.traffic.append(request)
            fault = next((plan.fault for plan in self._planned if plan.strikes(request)), None)
            reply = self._answer(request) if fault is None or fault.carried_out or fault.delay_s else None
        if fault is None:
            return reply
        if fault.delay_s:
            self._stopping.wait(fault.delay_s)
            return fault.reply or reply
        return fault.reply

    def _answer(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"token {self.token}":
            return Reply(401, bodies.error("Bad credentials", status=401))
        if request.path == "/graphql":
            return self._mutate(request)
        for verb, pattern, operation in _OPERATIONS:
            found = re.fullmatch(rf"/repos/([^/]+/[^/]+){pattern}", request.path)
            if found and verb == request.verb:
                return self._in_repo(
                    request, operation, found[1], [unquote(part) for part in found.groups()[1:]]
                )
        return NOT_FOUND

    def _in_repo(self, request: Request, operation: str, repo: str, parts: list[str]) -> Reply:
        if self.moved_to is not None and repo == self.repo:
            to = self.address + request.path.replace(self.repo, self.moved_to, 1)
            if request.query:
                to += f"?{urlencode(request.query)}"
            moved = bodies.error("Moved Permanently", status=301) | {"url": to}
            return Reply(301 if request.verb == "GET" else 307, moved, {"Location": to})
        if repo.lower() != (self.moved_to or self.repo).lower():
            return NOT_FOUND
        reply: Reply = getattr(self, operation)(request, *parts)
        return reply

    @property
    def _name(self) -> str:
        return self.moved_to or self.repo

    def _list_pulls(self, request: Request) -> Reply:
        query = request.query
        state = query.get("state", "open")
        found = [
            pull
            for pull in self.pulls
            if state in ("all", pull.state)
            and query.get("base", pull.base) == pull.base
            and query.get("head", self._label(pull)) == self._label(pull)
        ]
        found.sort(key=lambda pull: pull.created_at, reverse=query.get("direction", "desc") == "desc")
        return self._page(request, [bodies.pull_simple(self.address, self._name, pull) for pull in found])

    def _create_pull(self, request: Request) -> Reply:
        asked = request.body if isinstance(request.body, dict) else {}
        missing = [
            {"resource": "PullRequest", "field": name, "code": "missing_field"} for name in ("head", "base")
        ]
        missing = [problem for problem in missing if problem["field"] not in asked]
        if missing or not asked.get("title"):
            return _invalid(
                missing or [{"resource": "PullRequest", "field": "title", "code": "missing_field"}]
            )
        if problem := self._pull_problem(asked):
            return _invalid([{"resource": "PullRequest", **problem}])
        pull = self.add_pull(
            branch=asked["head"],
            base=asked["base"],
            title=asked["title"],
            body=asked.get("body"),
            draft=asked.get("draft", False),
        )
        full = bodies.pull_full(self.address, self._name, pull)
        return Reply(201, full, {"Location": full["url"]})

    def _pull_problem(self, asked: dict[str, Any]) -> dict[str, str] | None:
        head, base = self.sha_of(asked["head"]), self.sha_of(asked["base"])
        if head is None or base is None:
            return {"field": "head" if head is None else "base", "code": "invalid"}
        if head == base:
            return {"code": "custom", "message": f"No commits between {asked['base']} and {asked['head']}"}
        same = [
            pull
            for pull in self.pulls
            if pull.state == "open" and pull.fork is None and pull.branch == asked["head"]
        ]
        if any(pull.base == asked["base"] for pull in same):
            return {"code": "custom", "message": f"A pull request already exists for {self._label(same[0])}."}
        return None

    def _get_pull(self, request: Request, number: str) -> Reply:
        pull = self._pull(number)
        return Reply(200, bodies.pull_full(self.address, self._name, pull)) if pull else NOT_FOUND

    def _change_pull(self, request: Request, number: str) -> Reply:
        """Title and text alone: what else the API would take is no business of coreloop's."""
        pull = self._pull(number)
        if pull is None:
            return NOT_FOUND
        asked = request.body if isinstance(request.body, dict) else {}
        if not asked.keys() <= {"title", "body"}:
            return _invalid([{"resource": "PullRequest", "field": "base", "code": "invalid"}])
        pull.title, pull.body = asked.get("title", pull.title), asked.get("body", pull.body)
        return Reply(200, bodies.pull_full(self.address, self._name, pull))

    def _add_labels(self, request: Request, number: str) -> Reply:
        pull = self._pull(number)
        if pull is None:
            return NOT_FOUND
        pull.labels.extend(name for name in request.body["labels"] if name not in pull.labels)
        return Reply(200, [bodies.label(self.address, self._name, name) for name in pull.labels])

    def add_review(self, number: int, login: str, state: str, sha: str) -> None:
        """Review a pull request, as somebody would have."""
        pull = self.pulls[number - 1]
        at = len(pull.reviews) + 1
        pull.reviews.append(
            bodies.review(self.address, self._name, pull, at, login=login, state=state, sha=sha)
        )

    def _list_reviews(self, request: Request, number: str) -> Reply:
        pull = self._pull(number)
        return self._page(request, pull.reviews) if pull else NOT_FOUND

    def add_issue(self, title: str = "an issue", body: str = "", *labels: str) -> bodies.Issue:
        """Put an issue there, as somebody would have."""
        at = FIRST_DAY + timedelta(days=1, minutes=len(self.issues))
        issue = bodies.Issue(1001 + len(self.issues), title, body, at, list(labels))
        self.issues.append(issue)
        return issue

    def _list_issues(self, request: Request) -> Reply:
        """As GitHub does: pull requests are issues too."""
        asked, state = request.query.get("labels"), request.query.get("state", "open")
        found = [bodies.issue(self.address, self._name, one) for one in (*self.pulls, *self.issues)]
        found = [
            one
            for one in found
            if state in ("all", one["state"]) and (not asked or asked in {it["name"] for it in one["labels"]})
        ]
        if request.query.get("direction", "desc") == "desc":
            found.reverse()
        return self._page(request, found)

    def _list_comments(self, request: Request, number: str) -> Reply:
        found = [one for one in self.comments if one.number == int(number)]
        return self._page(request, [bodies.comment(self.address, self._name, one) for one in found])

    def _create_comment(self, request: Request, number: str) -> Reply:
        if self.rights == "app":
            return FORBIDDEN
        if not any(str(one.number) == number for one in (*self.pulls, *self.issues)):
            return NOT_FOUND
        asked = request.body if isinstance(request.body, dict) else {}
        comment = bodies.Comment(len(self.comments) + 1, int(number), str(asked.get("body", "")))
        self.comments.append(comment)
        return Reply(201, bodies.comment(self.address, self._name, comment))

    def _change_comment(self, request: Request, id: str) -> Reply:
        comment = next((one for one in self.comments if str(one.id) == id), None)
        if comment is None:
            return NOT_FOUND
        comment.body = str(request.body["body"]) if isinstance(request.body, dict) else ""
        return Reply(200, bodies.comment(self.address, self._name, comment))

    def _create_issue(self, request: Request) -> Reply:
        if self.rights == "app":
            return FORBIDDEN
        asked = request.body if isinstance(request.body, dict) else {}
        if not asked.get("title"):
            return _invalid([{"resource": "Issue", "field": "title", "code": "missing_field"}])
        labels = asked.get("labels", []) if self.rights == "admin" else []  # dropped in silence
        issue = self.add_issue(asked["title"], asked.get("body", ""), *labels)
        return Reply(201, bodies.issue(self.address, self._name, issue))

    def _change_issue(self, request: Request, number: str) -> Reply:
        issue = next((one for one in self.issues if str(one.number) == number), None)
        if issue is None:
            return NOT_FOUND
        asked = request.body if isinstance(request.body, dict) else {}
        issue.title, issue.body = asked.get("title", issue.title), asked.get("body", issue.body)
        return Reply(200, bodies.issue(self.address, self._name, issue))

    def _get_commit(self, request: Request, sha: str) -> Reply:
        return Reply(200, bodies.commit(self.address, self._name, sha))

    def _list_commits_of_pull(self, request: Request, number: str) -> Reply:
        pull = self._pull(number)
        if pull is None:
            return NOT_FOUND
        message = self.messages.get(pull.head_sha, "a commit")
        return self._page(request, [bodies.commit(self.address, self._name, pull.head_sha, message)])

    def _list_activity(self, request: Request) -> Reply:
        ref = request.query["ref"]
        pushed = [bodies.activity(self.address, ref, sha, login) for sha, login in self.pushed_by.items()]
        return Reply(200, pushed[::-1])

    def _create_status(self, request: Request, sha: str) -> Reply:
        if self.rights == "app":
            return FORBIDDEN
        if len(request.body["description"]) > 140:
            return _invalid([{"resource": "Status", "field": "description", "code": "custom"}])
        self.statuses.setdefault(sha, []).append(request.body)
        return Reply(201, bodies.status(self.address, self._name, sha, request.body))

    def _remove_label(self, request: Request, number: str, name: str) -> Reply:
        pull = self._pull(number)
        if pull is None or name not in pull.labels:
            return Reply(404, bodies.error("Label does not exist", status=404))
        pull.labels.remove(name)
        return Reply(200, [bodies.label(self.address, self._name, one) for one in pull.labels])

    def _mutate(self, request: Request) -> Reply:
        """The two mutations that the guard uses, of the pull request that is named."""
        wanted = request.body["variables"].get("pullRequestId")
        said = re.search(
            r"\) \{ (disablePullRequestAutoMerge|convertPullRequestToDraft)\(", request.body["query"]
        )
        if wanted is None or said is None:
            return NOT_FOUND
        pull = next((one for one in self.pulls if f"PR_{one.number}" == wanted), None)
        if pull is None:
            return Reply(200, {"data": None, "errors": [{"message": "Could not resolve to a node"}]})
        if self.rights != "admin":
            problem = {"type": "FORBIDDEN", "message": "Resource not accessible by integration"}
            return Reply(200, {"data": {said[1]: None}, "errors": [problem]})
        if said[1] == "disablePullRequestAutoMerge":
            pull.auto_merge = False
        if said[1] == "convertPullRequestToDraft":
            pull.draft = True
        return Reply(200, {"data": {said[1]: {"clientMutationId": None}}})

    def _get_repository(self, request: Request) -> Reply:
        full = bodies.repository_full(self.address, self._name, auto_merge=self.allow_auto_merge)
        return Reply(200, full)

    def _change_repository(self, request: Request) -> Reply:
        if self.rights != "admin":
            return FORBIDDEN
        self.allow_auto_merge = request.body["allow_auto_merge"]
        return self._get_repository(request)

    def _put_protection(self, request: Request, name: str) -> Reply:
        if self.rights != "admin":
            return FORBIDDEN
        self.put[name] = request.body
        return self._get_protection(request, name)

    def _get_branch(self, request: Request, name: str) -> Reply:
        sha = self.sha_of(name)
        if sha is None:
            return Reply(404, bodies.error("Branch not found", status=404))
        classic = name in self.protections or name in self.put
        sent = self.put.get(name, {}).get("required_status_checks") or {"checks": []}
        found = bodies.branch(
            self.address,
            self._name,
            name,
            sha=sha,
            protected=classic or name in self.rulesets,
            classic=classic,
            contexts=[check["context"] for check in sent["checks"]],
        )
        return Reply(200, found)

    def _get_protection(self, request: Request, name: str) -> Reply:
        if self.rights != "admin":
            return NOT_FOUND if self.rights == "write" else FORBIDDEN
        if self.sha_of(name) is None:
            return Reply(404, bodies.error("Branch not found", status=404))
        if name in self.put:
            return Reply(200, bodies.protection_of(self.address, self._name, name, self.put[name]))
        if name not in self.protections:
            return Reply(404, bodies.error("Branch not protected", status=404))
        body = bodies.protection(self.address, self._name, name, approvals=self.protections[name])
        return Reply(200, body)

    def _get_rules(self, request: Request, name: str) -> Reply:
        if name not in self.rulesets:
            return self._page(request, [])
        more = {"other_pusher": self.other_pusher, "contexts": self.required}
        return self._page(request, bodies.rules(self._name, approvals=self.rulesets[name], **more))

    def _list_runs(self, request: Request, workflow: str) -> Reply:
        """Only how many there are: those that succeeded."""
        if workflow not in self.green or request.query.get("status") != "success":
            return NOT_FOUND
        return Reply(200, {"total_count": 1, "workflow_runs": []})

    def _list_owners_errors(self, request: Request) -> Reply:
        return NOT_FOUND if self.owners_errors is None else Reply(200, {"errors": self.owners_errors})

    def _page(self, request: Request, found: list[bodies.Json]) -> Reply:
        size = min(int(request.query.get("per_page", "30")), 100)
        page = int(request.query.get("page", "1"))
        last = max(1, -(-len(found) // size))
        near = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
        # GitHub's links name the repository by number
        there = f"{self.address}/repositories/1{request.path.removeprefix(f'/repos/{self._name}')}"
        links = [
            f'<{there}?{urlencode(request.query | {"page": str(number)})}>; rel="{name}"'
            for name, number in near.items()
            if 1 <= number <= last and number != page
        ]
        headers = {"Link": ", ".join(links)} if links else {}
        return Reply(200, found[(page - 1) * size : page * size], headers)

    def _pull(self, number: str) -> bodies.Pull | None:
        return next((pull for pull in self.pulls if str(pull.number) == number), None)

    def _label(self, pull: bodies.Pull) -> str:
        return f"{self._name.split('/')[0]}:{pull.branch}"


_OPERATIONS = (
    ("GET", "/pulls", "_list_pulls"),
    ("POST", "/pulls", "_create_pull"),
    ("GET", r"/pulls/(\d+)", "_get_pull"),
    ("GET", r"/pulls/(\d+)/reviews", "_list_reviews"),
    ("GET", r"/pulls/(\d+)/commits", "_list_commits_of_pull"),
    ("GET", "/issues", "_list_issues"),
    ("POST", "/issues", "_create_issue"),
    ("PATCH", r"/issues/(\d+)", "_change_issue"),
    ("GET", r"/issues/(\d+)/comments", "_list_comments"),
    ("POST", r"/issues/(\d+)/comments", "_create_comment"),
    ("PATCH", r"/issues/comments/(\d+)", "_change_comment"),
    ("POST", r"/issues/(\d+)/labels", "_add_labels"),
    ("DELETE", r"/issues/(\d+)/labels/([^/]+)", "_remove_label"),
    ("GET", "/commits/([^/]+)", "_get_commit"),
    ("GET", "/activity", "_list_activity"),
    ("POST", "/statuses/([0-9a-f]+)", "_create_status"),
    ("GET", "", "_get_repository"),
    ("PATCH", r"/pulls/(\d+)", "_change_pull"),
    ("PATCH", "", "_change_repository"),
    ("GET", "/branches/([^/]+)", "_get_branch"),
    ("GET", "/branches/([^/]+)/protection", "_get_protection"),
    ("PUT", "/branches/([^/]+)/protection", "_put_protection"),
    ("GET", "/rules/branches/([^/]+)", "_get_rules"),
    ("GET", "/actions/workflows/([^/]+)/runs", "_list_runs"),
    ("GET", "/codeowners/errors", "_list_owners_errors"),
)


def _invalid(errors: list[dict[str, str]]) -> Reply:
    return Reply(422, bodies.error("Validation Failed", status=422, errors=errors))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, github: GithubStandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.github = github

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hung up; a bug of the stand-in shows as a dropped connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self.close_connection = True
        reply = self.server.github.handle(self._request())
        if reply is None:
            return
        body = reply.encoded()
        headers = {"Content-Type": "application/json; charset=utf-8", "Content-Length": str(len(body))}
        self.send_response(reply.status)
        for name, value in (headers | {"Connection": "close"} | reply.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server's names

    def _request(self) -> Request:
        url = urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return Request(
            verb=self.command,
            path=url.path,
            query=dict(parse_qsl(url.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=json.loads(sent) if sent else None,
        )

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Tests read `traffic`."""
