"""Paths in home folders, which name a user."""

import re
from typing import Final

from coreloop.sanitize.detectors.rule import Rule, Sign

_REST: Final = r"[^\s\"'`<>|]*"
_SHARED: Final = frozenset(
    {"public", "shared", "default", "default user", "all users", "$user", "username", "user"}
)


def _is_personal(match: re.Match[str]) -> bool:
    user = match["user"].strip().lower()
    return user not in _SHARED and re.match(r"[\w가-힣.%~+-]", user) is not None


RULES: Final = (
    Rule(
        "PATH",
        rf"(?<![A-Za-z0-9_.-])(?:file:/{{0,3}})?(?:[A-Za-z]:)?(?:[\\/]{{1,8}}[\w.$-]{{1,64}}){{0,3}}"
        rf"[\\/]{{1,8}}(?:home|Users|export/home|u01/home)[\\/]{{1,8}}"
        rf"(?P<user>[^\s\\/:*?\"'`<>|]+(?: [^\s\\/:*?\"'`<>|]+){{0,2}}(?=[\\/])|[^\s\\/:*?\"'`<>|,;)\]]+)"
        rf"{_REST}",
        Sign.HOME,
        _is_personal,
    ),
    Rule(
        "PATH",
        rf"(?i)(?<![A-Za-z0-9])[A-Z]:[\\/]{{1,8}}(?:users|documents and settings)[\\/]{{1,8}}"
        rf"(?P<user>[^\s\\/:*?\"'`<>|]+(?: [^\s\\/:*?\"'`<>|]+){{0,2}}(?=[\\/])|[^\s\\/:*?\"'`<>|,;)\]]+)"
        rf"{_REST}",
        Sign.HOME,
        _is_personal,
    ),
    Rule("PATH", r"(?<![\w./~])~(?P<user>[A-Za-z][\w.-]{1,31})/[^\s\"'`<>|]*", Sign.HOME),
)
