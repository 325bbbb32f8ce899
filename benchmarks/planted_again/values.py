"""A value of every kind of the page's table."""

import base64
from calendar import month_name
from collections.abc import Callable
from random import Random

from benchmarks.planted.kind import Value

from . import checks

Make = Callable[[Random], Value]
HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
WORD = UPPER + UPPER.lower() + "0123456789"
COMPANIES = {
    "한빛정밀소재": "138720",
    "두레에너지솔루션": "226310",
    "Norwind Robotics": "341560",
    "가온바이오랩": "417930",
}
WORDS = {"미래": "092450", "대교": "019680", "신세계": "004170", "대상": "001680"}
_GIVEN = ["민준", "서연", "도윤", "하은", "지호", "수빈", "현우", "채원", "영숙", "정호", "은경", "태윤"]
_FIRST = [
    "Harriet",
    "Desmond",
    "Priya",
    "Callum",
    "Beatrice",
    "Tobias",
    "Lorna",
    "Vincent",
    "Imogen",
    "Rafael",
]
_LAST = ["Ashworth", "Pemberton", "Okafor", "Lindqvist", "Castellano", "Whitlock", "Drummond", "Fairbanks"]


def names_file() -> str:
    return "".join(f"{code}\t{name}\t{name}\n" for name, code in (COMPANIES | WORDS).items())


def fill(chance: Random, shape: str) -> str:
    """Replace each ``#`` by a digit and each ``@`` by a capital letter."""
    return "".join(
        str(chance.randrange(10)) if char == "#" else chance.choice(UPPER) if char == "@" else char
        for char in shape
    )


def draw(chance: Random, count: int, alphabet: str = WORD) -> str:
    return "".join(chance.choices(alphabet, k=count))


def shaped(*shapes: str) -> Make:
    return lambda chance: Value(fill(chance, chance.choice(shapes)))


def key(*forms: tuple[str, int, str]) -> Make:
    """A credential: a known prefix and random characters."""

    def make(chance: Random) -> Value:
        prefix, count, alphabet = chance.choice(forms)
        body = draw(chance, count, alphabet)
        return Value(prefix + body, (body,))

    return make


def checked(shape: str, digit: Callable[[str], str], *cuts: tuple[tuple[int, ...], str]) -> Make:
    """A number that ends in a check digit, in groups of some sizes."""

    def make(chance: Random) -> Value:
        while len(last := digit(body := fill(chance, shape))) > 1:
            pass
        sizes, sign = chance.choice(cuts) if cuts else ((), "")
        return Value(cut(body + last, sizes, sign))

    return make


def cut(number: str, sizes: tuple[int, ...], sign: str) -> str:
    parts = []
    for size in sizes:
        parts.append(number[:size])
        number = number[size:]
    return sign.join([*parts, number] if number else parts)


def born(chance: Random) -> tuple[int, int, int]:
    return chance.randint(1948, 2004), chance.randint(1, 12), chance.randint(1, 28)


def resident(sexes: str, digit: Callable[[str], str]) -> Make:
    def make(chance: Random) -> Value:
        year, month, day = born(chance)
        sex = sexes[(2 if year >= 2000 else 0) + chance.randrange(2)]
        body = f"{year % 100:02}{month:02}{day:02}{sex}" + fill(chance, "#####")
        return Value(cut(body + digit(body), (6,), chance.choice(["-", "-", " ", ""])))

    return make


def birth_date(*formats: str) -> Make:
    def make(chance: Random) -> Value:
        year, month, day = born(chance)
        name = month_name[month]
        facts = {"y": year, "m": month, "d": day, "name": name, "short": name[:3], "yy": year % 100}
        return Value(chance.choice(formats).format(**facts))

    return make


def email(chance: Random) -> Value:
    first, last = chance.choice(_FIRST).lower(), chance.choice(_LAST).lower()
    user = f"{first}{chance.choice('._-')}{last}{fill(chance, '##')}"
    hosts = ["naver.com", "gmail.com", "hanmail.net", "daehan-ind.co.kr", "cam.ac.uk", "proton.me"]
    return Value(f"{user}@{chance.choice(hosts)}", (user,))


def link(chance: Random) -> Value:
    start = chance.choice(["https://share.", "http://", "www."])
    host = chance.choice(["wikidocs.net", "folio-desk.io", "intra.example.co.kr"])
    query = chance.choice(["", "?invite=" + draw(chance, 8)])
    return Value(f"{start}{host}/d/{draw(chance, 14)}{query}")


def ipv4(chance: Random) -> Value:
    parts = [chance.randint(11, 223), *(chance.randint(0, 255) for _ in range(2)), chance.randint(1, 254)]
    return Value(".".join(map(str, parts)) + chance.choice(["", "", ":8443"]))


def ipv6(chance: Random) -> Value:
    count = chance.choice([4, 8])
    groups = [draw(chance, 1, HEX[1:]) + draw(chance, 3, HEX) for _ in range(count)]
    return Value(("fe80::" if count == 4 else "") + ":".join(groups))


def mac(chance: Random) -> Value:
    return Value(chance.choice(":-").join(draw(chance, 2, HEX) for _ in range(6)))


def path(chance: Random) -> Value:
    user = chance.choice(_FIRST).lower() + chance.choice(_LAST).lower()
    shapes = ["/home/{}/work/q3.csv", "/Users/{}/Desktop/plan.key", "C:\\Users\\{}\\Documents\\tax.xlsx"]
    return Value(chance.choice([*shapes, "file:///Users/{}/notes.md"]).format(user), (user,))


def card(chance: Random) -> Value:
    body = fill(chance, chance.choice(["4##############", "52#############", "37############"]))
    number = body + checks.luhn(body)
    sizes = (4, 6) if len(number) == 15 else (4, 4, 4)
    return Value(cut(number, sizes, chance.choice(["-", " ", ".", ""])))


def iban(chance: Random) -> Value:
    shapes = {"DE": "#" * 18, "FR": "#" * 23, "ES": "#" * 20, "GB": "NWBK" + "#" * 14}
    country = chance.choice(list(shapes))
    number = checks.iban(country, fill(chance, shapes[country]))
    return Value(cut(number, (4,) * (len(number) // 4), chance.choice(["", " "])))


def ssn(sign: str) -> Make:
    def make(chance: Random) -> Value:
        area = chance.choice([chance.randint(1, 665), chance.randint(667, 899)])
        return Value(f"{area:03}{sign}{chance.randint(1, 99):02}{sign}{chance.randint(1, 9999):04}")

    return make


def itin(chance: Random) -> Value:
    group = chance.choice([*range(50, 66), *range(70, 89), 90, 91, 92, *range(94, 100)])
    return Value(fill(chance, f"9##-{group}-####"))


def nir(chance: Random) -> Value:
    body = f"{chance.choice('12')}{chance.randint(45, 99)}{chance.randint(1, 12):02}" + fill(
        chance, "75######"
    )
    return Value(cut(body + checks.nir(body), (1, 2, 2, 2, 3, 3), chance.choice(["", " "])))


def fiscal(chance: Random) -> Value:
    body = fill(chance, "@@@@@@") + f"{chance.randint(45, 99)}{chance.choice('ABCDEHLMPRST')}"
    body += f"{chance.randint(1, 31):02}{chance.choice('FHLD')}" + fill(chance, "###")
    return Value(body + checks.fiscal(body))


def steuer_id(chance: Random) -> Value:
    """Exactly one of the first ten digits occurs twice, as in numbers that were issued."""
    numerals = chance.sample("0123456789", 9)
    numerals.append(chance.choice(numerals))
    while numerals[0] == "0" or numerals == sorted(numerals):
        chance.shuffle(numerals)
    body = "".join(numerals)
    return Value(cut(body + checks.steuer(body), (2, 3, 3), chance.choice(["", " "])))


def nino(chance: Random) -> Value:
    body = chance.choice(["AB", "CE", "JK", "PW", "SL"]) + fill(chance, "######") + chance.choice("ABCD")
    return Value(cut(body, (2, 2, 2, 2), chance.choice(["", " "])))


def us_address(chance: Random) -> Value:
    road = chance.choice(["Juniper", "Kessler", "Old Quarry", "Magnolia"])
    kind = chance.choice(["Street", "St.", "Ave", "Road", "Blvd"])
    side = chance.choice(["", "N ", "West "])
    end = chance.choice(["", ", Apt 4B", fill(chance, ", Dayton, OH 45#13")])
    number = chance.randint(100, 9800)
    return Value(f"{number} {side}{road} {kind}{end}", (f"{number} {side}{road}",))


def uk_address(chance: Random) -> Value:
    road = chance.choice(["Hazelmere Road", "Corn Street", "Priory Lane", "Marlow Avenue"])
    town, code = chance.choice([("Bristol", "BS1 4@@"), ("Leeds", "LS8 2@@"), ("London", "SW1A 1@@")])
    code = code.replace("@@", draw(chance, 2, "ABDEFGHJLNPQRSTUWXYZ"))
    return Value(f"{chance.randint(2, 240)} {road}, {town} {code}", (road, code))


def bedrock(chance: Random) -> Value:
    body = base64.b64encode(f"BedrockAPIKey-{draw(chance, 88)}".encode()).decode()
    return Value("ABSK" + body, (body,))


def azure(chance: Random) -> Value:
    return Value(f"{draw(chance, 3)}{chance.randint(1, 9)}Q~{draw(chance, 34)}")


def discord(chance: Random) -> Value:
    user = base64.b64encode(fill(chance, "7" + "#" * 17).encode()).decode()
    return Value(f"{user}.{draw(chance, 6)}.{draw(chance, 38)}")


def langfuse(chance: Random) -> Value:
    body = "-".join(draw(chance, count, HEX) for count in (8, 4, 4, 4, 12))
    return Value("sk-lf-" + body, (body,))


def jwt(chance: Random) -> Value:
    return Value(f"eyJhbGciOiJIUzI1NiJ9.eyJ{draw(chance, 60)}.{draw(chance, 43)}")


def slack(chance: Random) -> Value:
    body = fill(chance, f"{'#' * 12}-{'#' * 13}-") + draw(chance, 24)
    return Value("xoxb-" + body, (body,))


def github(chance: Random) -> Value:
    if chance.random() < 0.3:
        body = f"{draw(chance, 22)}_{draw(chance, 59)}"
        return Value("github_pat_" + body, (body,))
    return key(("ghp_", 36, WORD), ("gho_", 36, WORD), ("ghs_", 36, WORD))(chance)


def onepassword(chance: Random) -> Value:
    if chance.random() < 0.5:
        return key(("ops_eyJ", 250, WORD))(chance)
    body = "-".join(draw(chance, count, UPPER[:24] + "23456789") for count in (6, 6, 5, 5, 5, 5))
    return Value("A3-" + body, (body,))


def anthropic(chance: Random) -> Value:
    body = draw(chance, 93)
    return Value(f"sk-ant-api03-{body}AA", (body,))


def langsmith(chance: Random) -> Value:
    body = f"{draw(chance, 32, HEX)}_{draw(chance, 10, HEX)}"
    return Value(chance.choice(["lsv2_pt_", "lsv2_sk_"]) + body, (body,))


def pinecone(chance: Random) -> Value:
    body = f"{draw(chance, 6)}_{draw(chance, 63)}"
    return Value("pcsk_" + body, (body,))


def password(chance: Random) -> Value:
    word = chance.choice(["maple", "tiger", "sunday", "kimchi"]) + fill(chance, "####")
    return Value(chance.choice([word, draw(chance, 12), "xxxx" + word, "***" + word]), ())


def database(chance: Random) -> Value:
    scheme = chance.choice(["postgres", "mysql", "mongodb+srv", "redis"])
    secret = draw(chance, 14)
    return Value(f"{scheme}://ledger:{secret}@db.corp.internal/main", (secret,))


def pem(chance: Random) -> Value:
    label = chance.choice(["RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY"])
    lines = [draw(chance, 64) for _ in range(chance.choice([3, 12, 25]))]
    body = "\n".join(lines)
    return Value(f"-----BEGIN {label}-----\n{body}\n-----END {label}-----", tuple(lines))


def korean_name(*extra: str) -> Make:
    def make(chance: Random) -> Value:
        given = chance.choice([*_GIVEN, *extra])
        return Value(chance.choice("김이박최정강조윤장임한오서신권황") + given, (given,))

    return make


def english_name(chance: Random) -> Value:
    first, last = chance.choice(_FIRST), chance.choice(_LAST)
    return Value(f"{first} {chance.choice(['', fill(chance, '@. ')])}{last}", (first, last))


def surname(chance: Random) -> Value:
    return Value(chance.choice(_LAST))


def one_of(names: dict[str, str]) -> Make:
    return lambda chance: Value(chance.choice(list(names)))


def stock_code(chance: Random) -> Value:
    return Value(chance.choice(list(COMPANIES.values())))
