"""The bodies of GitHub's answers, with every field that the API description requires."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from zlib import crc32

Json = dict[str, Any]

SITE = "https://github.example"
DOCS = "https://docs.github.example/rest"


@dataclass(slots=True)
class Pull:
    number: int
    title: str
    body: str | None
    branch: str
    base: str
    head_sha: str
    base_sha: str
    created_at: datetime
    draft: bool = True
    state: str = "open"
    merged_at: datetime | None = None
    labels: list[str] = field(default_factory=list)
    auto_merge: bool = False
    reviews: list[Json] = field(default_factory=list)
    fork: str | None = None
    """Repository of the branch where that is another one; "" is a fork that was deleted."""


@dataclass(slots=True)
class Issue:
    number: int
    title: str
    body: str | None
    created_at: datetime
    labels: list[str]
    state: str = "open"


def issue(api: str, full_name: str, one: Issue | Pull) -> Json:
    """An issue, or a pull request as the list of issues has it."""
    here = f"{api}/repos/{full_name}/issues/{one.number}"
    page = f"{SITE}/{full_name}/issues/{one.number}"
    pull = {"url": here.replace("/issues/", "/pulls/"), "html_url": page, "diff_url": page, "patch_url": page}
    lists = {f"{name}_url": f"{here}/{name}" for name in ("comments", "events")}
    more = {"pull_request": pull, "draft": one.draft} if isinstance(one, Pull) else {}
    return (
        lists
        | more
        | {
            "id": 2000 + one.number,
            "node_id": f"I_{one.number}",
            "url": here,
            "repository_url": f"{api}/repos/{full_name}",
            "labels_url": f"{here}/labels{{/name}}",
            "html_url": page,
            "number": one.number,
            "state": one.state,
            "title": one.title,
            "body": one.body,
            "user": user(api, "github-actions[bot]"),
            "labels": [label(api, full_name, name) for name in one.labels],
            "assignee": None,
            "milestone": None,
            "locked": False,
            "comments": 0,
            "closed_at": None,
            "created_at": _time(one.created_at),
            "updated_at": _time(one.created_at),
            "author_association": "NONE",
        }
    )


@dataclass(slots=True)
class Comment:
    id: int
    number: int
    body: str
    login: str = "github-actions[bot]"


def comment(api: str, full_name: str, one: Comment) -> Json:
    """A comment under an issue or a pull request."""
    at = _time(datetime(2026, 4, 1, tzinfo=UTC))
    kind = "Bot" if one.login.endswith("[bot]") else "User"
    return {
        "id": one.id,
        "node_id": f"IC_{one.id}",
        "url": f"{api}/repos/{full_name}/issues/comments/{one.id}",
        "html_url": f"{SITE}/{full_name}/pull/{one.number}#issuecomment-{one.id}",
        "issue_url": f"{api}/repos/{full_name}/issues/{one.number}",
        "body": one.body,
        "user": user(api, one.login) | {"type": kind},
        "created_at": at,
        "updated_at": at,
        "author_association": "NONE",
    }


def error(message: str, *, status: int, errors: list[Json] | None = None) -> Json:
    more = {"errors": errors} if errors is not None else {}
    return {"message": message, "documentation_url": DOCS, "status": str(status)} | more


def user(api: str, login: str) -> Json:
    here = f"{api}/users/{quote(login)}"
    lists = (
        "followers",
        "following",
        "gists",
        "starred",
        "subscriptions",
        "organizations",
        "repos",
        "events",
        "received_events",
    )
    return {f"{name}_url": f"{here}/{name}" for name in lists} | {
        "login": login,
        "id": crc32(login.encode()),  # another number for each account
        "node_id": "U_1",
        "avatar_url": f"{SITE}/avatars/1",
        "gravatar_id": "",
        "url": here,
        "html_url": f"{SITE}/{quote(login)}",
        "type": "User",
        "site_admin": False,
    }


# fmt: off
_REPOSITORY_LISTS = (
    "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare",
    "contents", "contributors", "deployments", "downloads", "events", "forks", "git_commits",
    "git_refs", "git_tags", "hooks", "issue_comment", "issue_events", "issues", "keys", "labels",
    "languages", "merges", "milestones", "notifications", "pulls", "releases", "stargazers",
    "statuses", "subscribers", "subscription", "tags", "teams", "trees",
)
# fmt: on


def repository(api: str, full_name: str) -> Json:
    owner, name = full_name.split("/")
    here = f"{api}/repos/{full_name}"
    page = f"{SITE}/{full_name}"
    counts = ("forks", "forks_count", "stargazers_count", "watchers", "watchers_count", "open_issues")
    return (
        {f"{one}_url": f"{here}/{one}" for one in _REPOSITORY_LISTS}
        | dict.fromkeys((*counts, "open_issues_count", "size"), 0)
        | dict.fromkeys(("has_downloads", "has_issues", "has_projects", "has_wiki"), True)
        | dict.fromkeys(("private", "fork", "has_pages", "archived", "disabled"), False)
        | dict.fromkeys(("description", "homepage", "language", "license", "mirror_url"))
        | dict.fromkeys(("pushed_at", "created_at", "updated_at"), "2026-01-01T00:00:00Z")
        | {
            "id": 1,
            "node_id": "R_1",
            "name": name,
            "full_name": full_name,
            "owner": user(api, owner),
            "url": here,
            "html_url": page,
            "clone_url": f"{page}.git",
            "git_url": f"git://github.example/{full_name}.git",
            "ssh_url": f"git@github.example:{full_name}.git",
            "svn_url": page,
            "default_branch": "main",
        }
    )


def pull_simple(api: str, full_name: str, pull: Pull) -> Json:
    """As in a list: without `merged`."""
    here = f"{api}/repos/{full_name}/pulls/{pull.number}"
    page = f"{SITE}/{full_name}/pull/{pull.number}"
    issue = f"{api}/repos/{full_name}/issues/{pull.number}"
    urls = {
        "comments": f"{issue}/comments",
        "commits": f"{here}/commits",
        "statuses": f"{api}/repos/{full_name}/statuses/{pull.head_sha}",
        "html": page,
        "issue": issue,
        "review_comments": f"{here}/comments",
        "review_comment": f"{api}/repos/{full_name}/pulls/comments{{/number}}",
    }
    merged_at = _time(pull.merged_at)
    return {f"{name}_url": url for name, url in urls.items()} | {
        "id": 1000 + pull.number,
        "node_id": f"PR_{pull.number}",
        "number": pull.number,
        "url": here,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "state": pull.state,
        "draft": pull.draft,
        "locked": False,
        "title": pull.title,
        "body": pull.body,
        "user": user(api, "maintainer"),
        "labels": [label(api, full_name, name) for name in pull.labels],
        "milestone": None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "created_at": _time(pull.created_at),
        "updated_at": _time(pull.created_at),
        "closed_at": merged_at or (_time(pull.created_at) if pull.state == "closed" else None),
        "merged_at": merged_at,
        "merge_commit_sha": None,
        "head": _side(api, full_name if pull.fork is None else pull.fork, pull.branch, pull.head_sha),
        "base": _side(api, full_name, pull.base, pull.base_sha),
        "_links": {name: {"href": url} for name, url in (urls | {"self": here}).items()},
        "author_association": "MEMBER",
        "auto_merge": _auto_merge(api) if pull.auto_merge else None,
    }


def _auto_merge(api: str) -> Json:
    enabled = {"enabled_by": user(api, "merger[bot]"), "merge_method": "squash"}
    return enabled | {"commit_title": "x", "commit_message": "y"}


def pull_full(api: str, full_name: str, pull: Pull) -> Json:
    return pull_simple(api, full_name, pull) | {
        "merged": pull.merged_at is not None,
        "merged_by": None,
        "mergeable": None,
        "mergeable_state": "draft" if pull.draft else "unknown",
        "maintainer_can_modify": False,
        "comments": 0,
        "review_comments": 0,
        "commits": 1,
        "additions": 1,
        "deletions": 0,
        "changed_files": 1,
    }


def label(api: str, full_name: str, name: str) -> Json:
    return {
        "id": 1,
        "node_id": "LA_1",
        "url": f"{api}/repos/{full_name}/labels/{name}",
        "name": name,
        "description": "Opened by coreloop",
        "color": "ededed",
        "default": False,
    }


def repository_full(api: str, full_name: str, *, auto_merge: bool) -> Json:
    """A repository as one who administers it sees it."""
    more = {"has_discussions": False, "network_count": 0, "subscribers_count": 0}
    return repository(api, full_name) | more | {"allow_auto_merge": auto_merge}


def review(api: str, full_name: str, pull: Pull, number: int, *, login: str, state: str, sha: str) -> Json:
    page = f"{SITE}/{full_name}/pull/{pull.number}#pullrequestreview-{number}"
    there = f"{api}/repos/{full_name}/pulls/{pull.number}"
    return {
        "id": number,
        "node_id": f"PRR_{number}",
        "user": user(api, login),
        "body": "",
        "state": state,
        "html_url": page,
        "pull_request_url": there,
        "_links": {"html": {"href": page}, "pull_request": {"href": there}},
        "submitted_at": "2026-04-01T00:00:00Z",
        "commit_id": sha,
        "author_association": "MEMBER",
    }


def activity(api: str, ref: str, sha: str, login: str) -> Json:
    """A push to a branch."""
    return {
        "id": 1,
        "node_id": "PSH_1",
        "before": "0" * 40,
        "after": sha,
        "ref": ref,
        "timestamp": "2026-04-01T00:00:00Z",
        "activity_type": "push",
        "actor": user(api, login),
    }


def status(api: str, full_name: str, sha: str, sent: Json) -> Json:
    return sent | {
        "url": f"{api}/repos/{full_name}/statuses/{sha}",
        "avatar_url": None,
        "id": 1,
        "node_id": "SC_1",
        "target_url": sent.get("target_url"),
        "created_at": "2026-04-01T00:00:00Z",
        "updated_at": "2026-04-01T00:00:00Z",
        "creator": user(api, "github-actions[bot]"),
    }


def commit(api: str, full_name: str, sha: str, message: str = "a commit") -> Json:
    """A commit of the maintainer's."""
    shown = dict(_commit(api, full_name, sha))
    return {**shown, "commit": {**shown["commit"], "message": message}}


def protection_of(api: str, full_name: str, name: str, sent: Json) -> Json:
    """Classic protection as somebody put it."""
    here = f"{api}/repos/{full_name}/branches/{name}/protection"
    switches = {key: {"enabled": value} for key, value in sent.items() if isinstance(value, bool)}
    body: Json = {"url": here, **switches}
    body["enforce_admins"] = {"url": f"{here}/enforce_admins", "enabled": sent["enforce_admins"]}
    reviews = sent["required_pull_request_reviews"]
    if reviews is not None:
        kept = {key: value for key, value in reviews.items() if not isinstance(value, dict)}
        body["required_pull_request_reviews"] = {"url": f"{here}/required_pull_request_reviews", **kept}
    checks = sent["required_status_checks"]
    if checks is not None:
        # -1 is anybody's word, and is shown as null
        shown = [one | {"app_id": None if one["app_id"] == -1 else one["app_id"]} for one in checks["checks"]]
        body["required_status_checks"] = {
            "url": f"{here}/required_status_checks",
            "strict": checks["strict"],
            "contexts": [one["context"] for one in shown],
            "contexts_url": f"{here}/required_status_checks/contexts",
            "checks": shown,
        }
    return body


def branch(
    api: str, full_name: str, name: str, *, sha: str, protected: bool, classic: bool, contexts: list[str]
) -> Json:
    """A branch; of its classic protection, everybody sees the required statuses."""
    here = f"{api}/repos/{full_name}/branches/{name}"
    required = {"enforcement_level": "everyone" if contexts else "off", "contexts": contexts, "checks": []}
    return {
        "name": name,
        "commit": _commit(api, full_name, sha),
        "_links": {"self": here, "html": f"{SITE}/{full_name}/tree/{name}"},
        "protected": protected,
        "protection": {"enabled": classic, "required_status_checks": required},
        "protection_url": f"{here}/protection",
    }


def protection(api: str, full_name: str, name: str, *, approvals: int | None) -> Json:
    """Classic protection; `approvals` None: no review rule among it."""
    here = f"{api}/repos/{full_name}/branches/{name}/protection"
    switches = ("required_linear_history", "allow_force_pushes", "allow_deletions", "block_creations")
    body: Json = {"url": here, "enforce_admins": {"url": f"{here}/enforce_admins", "enabled": True}}
    body |= {switch: {"enabled": False} for switch in switches}
    if approvals is not None:
        body["required_pull_request_reviews"] = {
            "url": f"{here}/required_pull_request_reviews",
            "dismiss_stale_reviews": True,
            "require_code_owner_reviews": False,
            "required_approving_review_count": approvals,
            "require_last_push_approval": False,
        }
    return body


def rules(full_name: str, *, approvals: int | None, other_pusher: bool, contexts: list[str]) -> list[Json]:
    """Active rules; `approvals` None: none about pull requests."""
    origin = {"ruleset_source_type": "Repository", "ruleset_source": full_name, "ruleset_id": 1}
    found: list[Json] = [{"type": "deletion"} | origin]
    if approvals is not None:
        parameters = {
            "dismiss_stale_reviews_on_push": True,
            "require_code_owner_review": False,
            "require_last_push_approval": other_pusher,
            "required_approving_review_count": approvals,
            "required_review_thread_resolution": False,
        }
        found.append({"type": "pull_request", "parameters": parameters} | origin)
    if contexts:
        checks = [{"context": context, "integration_id": 15368} for context in contexts]
        parameters = {"required_status_checks": checks, "strict_required_status_checks_policy": False}
        found.append({"type": "required_status_checks", "parameters": parameters} | origin)
    return found


def _side(api: str, full_name: str, ref: str, sha: str) -> Json:
    owner = full_name.split("/", 1)[0] or "ghost"
    return {
        "label": f"{owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(api, owner),
        "repo": repository(api, full_name) if full_name else None,
    }


def _commit(api: str, full_name: str, sha: str) -> Mapping[str, Any]:
    here = f"{api}/repos/{full_name}/commits/{sha}"
    person = {"name": "Maintainer", "email": "maintainer@example.org", "date": "2026-01-01T00:00:00Z"}
    git_commit = {
        "url": here,
        "author": person,
        "committer": person,
        "message": "a commit",
        "comment_count": 0,
        "tree": {"sha": sha, "url": f"{api}/repos/{full_name}/git/trees/{sha}"},
    }
    return {
        "url": here,
        "sha": sha,
        "node_id": "C_1",
        "html_url": f"{SITE}/{full_name}/commit/{sha}",
        "comments_url": f"{here}/comments",
        "commit": git_commit,
        "author": user(api, "maintainer"),
        "committer": user(api, "maintainer"),
        "parents": [],
    }


def _time(at: datetime | None) -> str | None:
    return None if at is None else f"{at:%Y-%m-%dT%H:%M:%SZ}"
