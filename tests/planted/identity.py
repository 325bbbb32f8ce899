"""Numbers and names of people and firms: registration numbers, passports, licences, phones, titled names."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from planted.value import Core, Value, digits
from planted.words import WORDS

_COUNTRY: Final = ("+82 10-{}-{}", "+82-10-{}-{}", "+82 (0)10 {} {}", "+8210{}{}", "0082 10 {} {}")
_AREAS: Final = (
    "02",
    "070",
    "064",
    *map("{:03}".format, (*range(31, 34), *range(41, 45), *range(51, 56), *range(61, 64))),
)


def mobile(rng: random.Random) -> Value:
    middle, last = str(rng.randint(2000, 9999)), digits(rng, 4)
    first = rng.choices(("010", "011", "016", "019"), weights=(17, 1, 1, 1))[0]
    form = rng.choice(("{}-{}-{}", "{} {} {}", "{}.{}.{}", "{}{}{}", "{}) {}-{}"))
    return Value(form.format(first, middle, last), (Core(middle + last, 7),))


def landline(rng: random.Random) -> Value:
    area, last = rng.choice(_AREAS), digits(rng, 4)
    middle = str(rng.randint(2000, 9999) if area in {"02", "070"} else rng.randint(200, 999))
    form = rng.choice(("{}-{}-{}", "({}) {}-{}", "{}){}-{}", "{} {} {}", "{}.{}.{}"))
    return Value(form.format(area, middle, last), (Core(area + middle + last, 7),))


def international(rng: random.Random) -> Value:
    middle, last = str(rng.randint(2000, 9999)), digits(rng, 4)
    if rng.random() < 0.5:
        return Value(rng.choice(_COUNTRY).format(middle, last), (Core(middle + last, 7),))
    # ranges that are kept free for fiction in the United States and in Britain
    us, uk = rng.choice(("202", "312", "415", "617")), rng.choice(("20 7946", "161 496", "131 496"))
    form = rng.choice((f"+1 ({us}) 555-01{last[:2]}", f"+1-{us}-555-01{last[:2]}", f"+44 {uk} 0{last[:3]}"))
    return Value(form, (Core(form.partition(" ")[2] or form[3:], 7),))


def _birthday(rng: random.Random) -> date:
    return date(1945, 1, 1) + timedelta(days=rng.randrange(365 * 80))


def _gender(rng: random.Random, born: date, *, foreign: bool) -> str:
    return str((1 if born.year < 2000 else 3) + rng.randrange(2) + (4 if foreign else 0))


def _rrn_check(front: str, *, foreign: bool) -> str:
    total = sum(
        int(digit) * weight for digit, weight in zip(front, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), strict=True)
    )
    return str(((13 if foreign else 11) - total % 11) % 10)


def is_rrn(text: str) -> bool:
    """Whether 13 digits are a registration number with its checksum: a figure that is one, is one."""
    try:
        date(1900 + int(text[:2]), int(text[2:4]), int(text[4:6]))
    except ValueError:
        return text[2:6] == "0229"
    return text[12] in {_rrn_check(text[:12], foreign=False), _rrn_check(text[:12], foreign=True)}


def _rrn(rng: random.Random, *, foreign: bool, checked: bool) -> Value:
    born = _birthday(rng)
    front = f"{born:%y%m%d}{_gender(rng, born, foreign=foreign)}"
    # a foreigner's office number was even while the checksum held
    office = f"{rng.randrange(0, 96, 2):02}"
    twelve = front + office + digits(rng, 3)
    check = _rrn_check(twelve, foreign=foreign)
    number = twelve + (check if checked else str((int(check) + rng.randint(1, 9)) % 10))
    dash = rng.choice(("-", "-", "", " - "))
    near = ("주민등록번호", "주민번호", "resident registration number", "RRN")
    near = ("외국인등록번호", "외국인 등록번호", "alien registration number") if foreign else near
    return Value(
        f"{number[:6]}{dash}{number[6:]}", (Core(number, 7),), near if not (checked and dash) else ()
    )


def resident(rng: random.Random) -> Value:
    return _rrn(rng, foreign=False, checked=True)


def resident_since_2020(rng: random.Random) -> Value:
    return _rrn(rng, foreign=False, checked=False)


def foreigner(rng: random.Random) -> Value:
    return _rrn(rng, foreign=True, checked=True)


def foreigner_since_2020(rng: random.Random) -> Value:
    return _rrn(rng, foreign=True, checked=False)


def business(rng: random.Random) -> Value:
    nine = f"{rng.randint(101, 899)}{rng.randint(1, 99):02}{digits(rng, 4)}"
    total = sum(int(digit) * weight for digit, weight in zip(nine, (1, 3, 7, 1, 3, 7, 1, 3, 5), strict=True))
    number = nine + str((10 - (total + int(nine[8]) * 5 // 10) % 10) % 10)
    dashed = rng.random() < 0.7
    near = () if dashed else ("사업자등록번호", "사업자번호", "business registration number")
    return Value(f"{number[:3]}-{number[3:5]}-{number[5:]}" if dashed else number, (Core(number, 8),), near)


def passport(rng: random.Random) -> Value:
    letter, number = rng.choice("MSRGD"), digits(rng, 8)
    text = letter + number
    if rng.random() < 0.5:  # the form since December 2021
        text = f"M{number[:3]}{rng.choice('ABCDEFGHJKLMNPQRSTUVWXYZ')}{number[3:7]}"
    return Value(text, (Core(text, 8),), ("여권번호", "여권 번호", "passport no.", "passport number"))


def licence(rng: random.Random) -> Value:
    text = f"{rng.randint(11, 28)}-{rng.randint(0, 24):02}-{digits(rng, 6)}-{digits(rng, 2)}"
    text = text if rng.random() < 0.8 else text.replace("-", "")
    return Value(text, (Core(text, 9),), ("운전면허번호", "면허번호", "운전면허", "driver's licence"))


def korean_name(rng: random.Random) -> Value:
    surname = rng.choice(WORDS["surnames"])
    name = surname + "".join(rng.sample(WORDS["given"], 2))
    return Value(name + rng.choice(WORDS["titles"]), (Core(name),))


def english_name(rng: random.Random) -> Value:
    last = rng.choice(WORDS["last_names"])
    given = rng.choice(WORDS["first_names"])
    first = rng.choice(("", f"{given} ", f"{given} {rng.choice('ABCDEFGHJ')}. "))
    title = rng.choice(("Mr.", "Ms.", "Mrs.", "Dr.", "Prof.", "Mr", "Ms", "Professor"))
    return Value(f"{title} {first}{last}", (Core(last),))


KINDS: Final[dict[str, Callable[[random.Random], Value]]] = {
    "mobile": mobile,
    "landline": landline,
    "international phone": international,
    "resident number": resident,
    "resident number since 2020": resident_since_2020,
    "foreigner number": foreigner,
    "foreigner number since 2020": foreigner_since_2020,
    "business number": business,
    "passport": passport,
    "driver's licence": licence,
    "Korean name": korean_name,
    "English name": english_name,
}
