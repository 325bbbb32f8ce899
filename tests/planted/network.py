"""Addresses: e-mail, URLs, IP, and home folders with a user's name."""

import random
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Final

from planted.value import Core, Value, digits, token
from planted.words import WORDS

_ENDS: Final = ("co.kr", "com", "kr", "io", "net", "or.kr", "ac.kr", "example", "example.com", "co.uk")


def user_name(rng: random.Random) -> str:
    """A login that is nobody's, of eight characters or more."""
    first, last = rng.choice(WORDS["logins"]), rng.choice(WORDS["login_ends"])
    return f"{first}{rng.choice(('.', '_', '-', ''))}{last}{rng.randint(10, 999)}"


def _domain(rng: random.Random) -> str:
    first, second = rng.choices(WORDS["hosts"], k=2)
    return f"{first}{rng.choice(('-', ''))}{second}{digits(rng, 2)}.{rng.choice(_ENDS)}"


def email(rng: random.Random) -> Value:
    local, domain = (
        user_name(rng),
        rng.choice(("naver.com", "gmail.com", "daum.net", _domain(rng), _domain(rng))),
    )
    tag = rng.choice(("", "", "", "+dart"))
    text = f"{local}{tag}@{domain}"
    form = rng.choice(("{}", "{}", "{}", "<{}>", "mailto:{}", "({})"))
    return Value(
        form.format(text if rng.random() < 0.85 else text.upper()), (Core(local), Core(local.split(".")[-1]))
    )


def url_user(rng: random.Random) -> Value:
    user, password, domain = user_name(rng), token(rng, 12), _domain(rng)
    text = f"{rng.choice(('https', 'ftp', 'http', 'sftp'))}://{user}:{password}@{domain}/{token(rng, 8)}"
    return Value(text, tuple(map(Core, (user, password, domain))))


def url_query(rng: random.Random) -> Value:
    domain, path, secret, user = _domain(rng), token(rng, 10), token(rng, 24), user_name(rng)
    name = rng.choice(("token", "access_token", "sig", "key", "session", "code"))
    port = rng.choice(("", "", ":8443"))
    text = (
        f"https://www.{domain}{port}/share/{path}?user={user}&{name}={secret}#{rng.choice(('top', 'p3', ''))}"
    )
    return Value(text, (Core(domain), Core(path), Core(user), Core(secret, 12)))


def ipv4(rng: random.Random) -> Value:
    first = rng.choice(
        ("203.0.113", f"{rng.randint(101, 223)}.{rng.randint(100, 255)}.{rng.randint(10, 255)}")
    )
    first = rng.choice((first, f"192.168.{rng.randint(100, 255)}"))
    text = f"{first}.{rng.randint(100, 254)}"
    return Value(text + rng.choice(("", "", ":8080", "/24")), (Core(text),))


def ipv6(rng: random.Random) -> Value:
    prefix = rng.choice((0x20010DB8, 0x24050000 + rng.randrange(2**16), 0xFD000000 + rng.randrange(2**24)))
    middle = rng.choice((0, rng.getrandbits(32)))
    address = IPv6Address(prefix << 96 | middle << 64 | rng.getrandbits(64) | 0x1000 << 48)
    text = rng.choice((str(address), address.exploded, str(address).upper()))
    return Value(text, (Core(address.exploded[20:], 12), Core(str(address)[-19:], 12)))


def home_path(rng: random.Random) -> Value:
    user = rng.choice((user_name(rng), user_name(rng), rng.choice(WORDS["korean_logins"]) + digits(rng, 2)))
    file = rng.choice(("portfolio.xlsx", "재무제표.csv", "notes/2026.md", ".ssh/config", "Desktop/분석.py"))
    back = file.replace("/", "\\")
    form = rng.choice(
        (
            f"/home/{user}/{file}",
            f"/Users/{user}/{file}",
            f"C:\\Users\\{user}\\{back}",
            f"c:/Users/{user}/{file}",
            f"D:\\Users\\{user}\\Documents\\{back}",
            f"/mnt/c/Users/{user}/{file}",
            f"\\\\wsl$\\Ubuntu\\home\\{user}\\{back}",
            f"\\\\wsl.localhost\\Ubuntu-24.04\\home\\{user}\\{back}",
            f"file:///home/{user}/{file}",
            f"file:///C:/Users/{user}/{file}",
        )
    )
    return Value(form, (Core(user),))


KINDS: Final[dict[str, Callable[[random.Random], Value]]] = {
    "e-mail": email,
    "URL with user": url_user,
    "URL with query": url_query,
    "IPv4": ipv4,
    "IPv6": ipv6,
    "home path": home_path,
}
