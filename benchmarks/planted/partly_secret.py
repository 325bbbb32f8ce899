"""Values of which only a part identifies somebody or opens something."""

from random import Random

from .kind import ALNUM, BASE64, LOWER, Value, digits, draw, grouped, words

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
_US_STREETS = words(
    "Maple Oakwood Lincoln Sycamore Chestnut Willow Birchwood Magnolia Juniper Hawthorne Cypress Laurel"
)
_US_ENDS = words("Street St. St Avenue Ave Ave. Road Rd Drive Dr Lane Ln Boulevard Blvd Court Way")
_CITIES = ("Springfield, IL 62704", "Austin, TX 78701", "Portland, OR 97205", "Boston, MA 02116")
_UK_STREETS = words("Victoria Church Station Kingsway Albert Mill Park Queens Grange Manor Highfield Orchard")
_UK_ENDS = words("Road Street Lane Close Gardens Terrace Avenue Crescent")
_POSTCODES = words("SW1A M1 EC2V LS6 B15 CB2 OX4 G12 EH3 BS8 NW10 W1T")


def _user(chance: Random) -> str:
    return f"{chance.choice(_USERS)}{digits(chance, chance.randrange(4))}"


def email(chance: Random) -> Value:
    local = _user(chance)
    tag = f"+{draw(chance, LOWER, 4)}" if chance.random() < 0.1 else ""
    return Value(f"{local}{tag}@{chance.choice(_MAIL_HOSTS)}", (local,))


def link(chance: Random) -> Value:
    folder, name = chance.choice(("d", "share", "u", "file", "invite")), draw(chance, ALNUM, 12)
    host = chance.choice(_HOSTS)
    scheme = chance.choice(("https://", "http://", "https://www.", "www."))
    query = f"?id={digits(chance, 8)}" if chance.random() < 0.3 else ""
    return Value(f"{scheme}{host}/{folder}/{name}{query}", (name,))


def ipv4(chance: Random) -> Value:
    first = chance.choice((10, 172, 192, 203, 211, 121, 58))
    text = ".".join((str(first), *(str(chance.randrange(1, 255)) for _ in range(3))))
    return Value(text if chance.random() < 0.8 else f"{text}:{chance.randrange(1024, 65536)}", (text,))


def path(chance: Random) -> Value:
    name = _user(chance)
    forms = (
        "/home/{}/work/report.py",
        "/Users/{}/Documents/계약서.pdf",
        r"C:\Users\{}\Desktop\기획안.xlsx",
        "/home/{}/.ssh/config",
        "file:///Users/{}/notes.md",
        r"D:\Users\{}\AppData\Local\app.log",
    )
    return Value(chance.choice(forms).format(name), (name,))


def international(chance: Random) -> Value:
    number = f"{chance.randrange(2, 10)}{digits(chance, 7)}"
    country = chance.choice(("+82", "+82", "0082", "(+82)"))
    local = f"10{chance.choice('- ')}{grouped(number, 4, 4)}" if chance.random() < 0.8 else f"10{number}"
    return Value(f"{country}{chance.choice('- ')}{local}", (f"10{number}",))


def us_phone(chance: Random) -> Value:
    area = chance.choice(("212", "415", "617", "312", "206", "512", "305", "404"))
    exchange, line = f"{chance.randrange(2, 10)}{digits(chance, 2)}", digits(chance, 4)
    forms = (
        "({}) {}-{}",
        "({}) {}-{}",
        "{}-{}-{}",
        "{}.{}.{}",
        "+1 {} {} {}",
        "+1-{}-{}-{}",
        "1-{}-{}-{}",
        "+1{}{}{}",
    )
    return Value(chance.choice(forms).format(area, exchange, line), (area + exchange + line,))


def us_street(chance: Random) -> Value:
    number, name, end = chance.randrange(10, 9900), chance.choice(_US_STREETS), chance.choice(_US_ENDS)
    text = f"{number} {chance.choice(('', '', 'N. ', 'West '))}{name} {end}"
    if chance.random() < 0.3:
        flat, box, suite = chance.randrange(1, 99), chance.randrange(1, 99), chance.randrange(100, 900)
        text += chance.choice((f", Apt {flat}", f" #{box}", f", Suite {suite}"))
    if chance.random() < 0.5:
        text += f", {chance.choice(_CITIES)}"
    return Value(text, (f"{number} {name}", name))


def uk_street(chance: Random) -> Value:
    street = chance.choice(_UK_STREETS)
    number = f"{chance.randrange(1, 250)}{chance.choice(('', '', 'A', 'b'))}"
    inward = f"{chance.choice('123456789')}{draw(chance, 'ABDEFGHJLNPQRSTUWXYZ', 2)}"
    postcode = f"{chance.choice(_POSTCODES)} {inward}"
    town = chance.choice(("London", "Manchester", "Leeds", "Bristol", "Oxford"))
    text = f"{number} {street} {chance.choice(_UK_ENDS)}, {town} {postcode}"
    return Value(text, (f"{number} {street}", postcode))


def database_url(chance: Random) -> Value:
    secret = draw(chance, ALNUM, 12)
    scheme = chance.choice(("postgres", "mysql", "mongodb+srv", "redis"))
    host = f"{draw(chance, LOWER, 6)}:{secret}@db-{digits(chance, 2)}.firm.internal"
    return Value(f"{scheme}://{host}/main", (secret,))


def private_key(chance: Random) -> Value:
    lines = [draw(chance, BASE64, 64) for _ in range(chance.choice((3, 12, 25)))]
    label = chance.choice(("RSA ", "", "OPENSSH ", "EC "))
    text = "\n".join((f"-----BEGIN {label}PRIVATE KEY-----", *lines, f"-----END {label}PRIVATE KEY-----"))
    return Value(text, (lines[0], lines[-1]))
