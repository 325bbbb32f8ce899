"""Addresses on the internet, and paths with a user's name."""

from random import Random

from .kind import ALNUM, LOWER, Kind, Value, digits, draw, words

_USERS = words(
    "minjun.kim seoyeon_lee jihoon.p hayoung99 dkpark emily.carter j.bennett o.hughes mkowalski "
    "priya.patel k-nakamura"
)
_MAIL_HOSTS = words(
    "naver.com gmail.com daum.net hanmail.net kakao.com outlook.com company.co.kr firm-holdings.com "
    "mail.startup.io uni-muenchen.de cam.ac.uk proton.me"
)
_HOSTS = words(
    "drive.example.com docs.firm.co.kr forms.gle notion.site intranet.hanbit.co.kr app.startup.io "
    "blog.naver.com"
)


def user(chance: Random) -> str:
    return f"{chance.choice(_USERS)}{digits(chance, chance.randrange(4))}"


def email(chance: Random) -> Value:
    local = user(chance)
    tag = f"+{draw(chance, LOWER, 4)}" if chance.random() < 0.1 else ""
    return Value(f"{local}{tag}@{chance.choice(_MAIL_HOSTS)}", (local,))


def link(chance: Random) -> Value:
    path = f"{chance.choice(('d', 'share', 'u', 'file', 'invite'))}/{draw(chance, ALNUM, 12)}"
    host = chance.choice(_HOSTS)
    scheme = chance.choice(("https://", "http://", "https://www.", "www."))
    query = f"?id={digits(chance, 8)}" if chance.random() < 0.3 else ""
    return Value(f"{scheme}{host}/{path}{query}", (path.split("/")[1],))


def ipv4(chance: Random) -> Value:
    first = chance.choice((10, 172, 192, 203, 211, 121, 58))
    rest = ".".join(str(chance.randrange(1, 255)) for _ in range(3))
    text = f"{first}.{rest}"
    return Value(text if chance.random() < 0.8 else f"{text}:{chance.randrange(1024, 65536)}", (text,))


def ipv6(chance: Random) -> Value:
    groups = [f"{chance.randrange(0x1000, 0x10000):x}" for _ in range(6)]
    return Value(f"2001:db8:{':'.join(groups)}" if chance.random() < 0.6 else f"fe80::{':'.join(groups[:4])}")


def mac(chance: Random) -> Value:
    return Value(chance.choice(":-").join(f"{chance.randrange(256):02x}" for _ in range(6)))


def path(chance: Random) -> Value:
    name = user(chance).replace("+", "")
    form = chance.choice(
        (
            "/home/{}/work/report.py",
            "/Users/{}/Documents/계약서.pdf",
            r"C:\Users\{}\Desktop\기획안.xlsx",
            "/home/{}/.ssh/config",
            "file:///Users/{}/notes.md",
            r"D:\Users\{}\AppData\Local\app.log",
        )
    )
    return Value(form.format(name), (name,))


KINDS = (
    Kind("e-mail address", email, keys=("email", "contact", "to"), disguises="latin text at"),
    Kind("link", link, keys=("url", "link"), disguises="latin text"),
    Kind("IPv4 address", ipv4, keys=("ip", "client"), disguises="scripts text"),
    Kind("IPv6 address", ipv6, keys=("ip",), disguises="text"),
    Kind("MAC address", mac, keys=("mac",), disguises="text"),
    Kind("path with a user's name", path, keys=("path", "file"), disguises="text"),
)
