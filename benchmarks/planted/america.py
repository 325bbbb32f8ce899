"""Numbers, addresses and dates of people in the United States."""

from random import Random

from .check_digits import birthday
from .kind import Kind, Value, digits, grouped, words
from .korea import PHONE_WORDS

_STREETS = words(
    "Maple Oakwood Lincoln Sycamore Chestnut Willow Birchwood Magnolia Juniper Hawthorne Cypress Laurel"
)
_ENDS = words("Street St. St Avenue Ave Ave. Road Rd Drive Dr Lane Ln Boulevard Blvd Court Way")
_CITIES = (
    ("Springfield", "IL", "62704"),
    ("Austin", "TX", "78701"),
    ("Portland", "OR", "97205"),
    ("Boston", "MA", "02116"),
)
_SSN_WORDS = ("SSN {}", "SSN: {}", "my social security number is {}", "Social Security No. {}")
_MONTHS = words("January February March April May June July August September October November December")


def phone(chance: Random) -> Value:
    area = chance.choice(("212", "415", "617", "312", "206", "512", "305", "404"))
    exchange, line = f"{chance.randrange(2, 10)}{digits(chance, 2)}", digits(chance, 4)
    form = chance.choice(
        (
            "({}) {}-{}",
            "({}) {}-{}",
            "{}-{}-{}",
            "{}.{}.{}",
            "+1 {} {} {}",
            "+1-{}-{}-{}",
            "1-{}-{}-{}",
            "+1{}{}{}",
        )
    )
    return Value(form.format(area, exchange, line), (area + exchange + line,))


def ssn_parts(chance: Random) -> str:
    area = chance.choice([number for number in range(1, 900) if number != 666])
    return f"{area:03d}{chance.randrange(1, 100):02d}{chance.randrange(1, 10_000):04d}"


def ssn(chance: Random) -> Value:
    return Value(grouped(ssn_parts(chance), 3, 2, 4))


def ssn_plain(chance: Random) -> Value:
    return Value(grouped(ssn_parts(chance), 3, 2, 4, by=chance.choice(("", " "))))


def itin(chance: Random) -> Value:
    group = chance.choice((*range(50, 66), *range(70, 89), 90, 91, 92, *range(94, 100)))
    return Value(grouped(f"9{digits(chance, 2)}{group}{digits(chance, 4)}", 3, 2, 4))


def ein(chance: Random) -> Value:
    return Value(f"{chance.choice((12, 20, 27, 35, 46, 52, 61, 74, 83, 95))}-{digits(chance, 7)}")


def street(chance: Random) -> Value:
    number, name, end = chance.randrange(10, 9900), chance.choice(_STREETS), chance.choice(_ENDS)
    text = f"{number} {chance.choice(('', '', 'N. ', 'West '))}{name} {end}"
    if chance.random() < 0.3:
        text += chance.choice(
            (
                f", Apt {chance.randrange(1, 99)}",
                f" #{chance.randrange(1, 99)}",
                f", Suite {chance.randrange(100, 900)}",
            )
        )
    if chance.random() < 0.5:
        city, state, code = chance.choice(_CITIES)
        text += f", {city}, {state} {code}"
    return Value(text, (f"{number} {name}", name))


def birth_date(chance: Random) -> Value:
    born = birthday(chance)
    return Value(
        chance.choice(
            (
                f"{born:%m/%d/%Y}",
                f"{born:%Y-%m-%d}",
                f"{_MONTHS[born.month - 1]} {born.day}, {born.year}",
                f"{born.day} {_MONTHS[born.month - 1][:3]} {born.year}",
                f"{born:%m-%d-%Y}",
                f"{born:%d.%m.%Y}",
            )
        )
    )


def korean_birth_date(chance: Random) -> Value:
    born = birthday(chance)
    forms = (
        f"{born:%Y-%m-%d}",
        f"{born:%Y.%m.%d}",
        f"{born.year}년 {born.month}월 {born.day}일",
        f"{born:%Y%m%d}",
        f"{born:%y%m%d}",
    )
    return Value(chance.choice(forms))


KINDS = (
    Kind(
        "US telephone",
        phone,
        beside=PHONE_WORDS,
        keys=("phone", "phoneNumber", "cell"),
        disguises="digits text",
    ),
    Kind("SSN", ssn, beside=_SSN_WORDS, keys=("ssn",), disguises="digits text"),
    Kind(
        "SSN without hyphens",
        ssn_plain,
        beside=_SSN_WORDS,
        bare=False,
        keys=("ssn", "social_security_number"),
        disguises="digits text",
    ),
    Kind(
        "ITIN", itin, beside=("ITIN {}", "ITIN: {}", "my ITIN is {}"), keys=("itin",), disguises="digits text"
    ),
    Kind(
        "EIN",
        ein,
        beside=("EIN {}", "EIN: {}", "employer identification number {}", "Federal tax ID {}"),
        bare=False,
        keys=("ein", "tax_id"),
        disguises="digits text",
    ),
    Kind("US street address", street, keys=("address", "street"), disguises="text"),
    Kind(
        "date of birth beside its word",
        birth_date,
        beside=(
            "DOB {}",
            "DOB: {}",
            "date of birth: {}",
            "born on {}",
            "my birthday is {}",
            "Date of Birth {}",
        ),
        bare=False,
        keys=("dob", "date_of_birth", "birthday", "birthDate"),
        disguises="digits text",
    ),
    Kind(
        "Korean date of birth beside its word",
        korean_birth_date,
        beside=("생년월일 {}", "생년월일: {}", "생년월일은 {}입니다", "생일은 {}"),
        bare=False,
        keys=("생년월일", "birth", "birth_date"),
        disguises="digits text",
        is_number=True,
    ),
)
