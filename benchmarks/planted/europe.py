"""Numbers of people in the European Union."""

from random import Random

from . import check_digits
from .kind import Kind, Value, digits, grouped
from .korea import PHONE_WORDS


def phone(chance: Random) -> Value:
    forms = (
        f"+49 {chance.choice(('30', '89', '151', '170'))} {digits(chance, 8)}",
        f"+33 {chance.choice('12346')} {grouped(digits(chance, 8), 2, 2, 2, 2, by=' ')}",
        f"+34 6{digits(chance, 2)} {grouped(digits(chance, 6), 3, 3, by=' ')}",
        f"+39 3{digits(chance, 2)} {digits(chance, 7)}",
        f"+31 6 {digits(chance, 8)}",
    )
    return Value(chance.choice(forms))


def dni(chance: Random) -> Value:
    text = check_digits.dni(chance)
    return Value(chance.choice((text, f"{text[:8]}-{text[8]}")))


def nie(chance: Random) -> Value:
    text = check_digits.nie(chance)
    return Value(chance.choice((text, f"{text[0]}-{text[1:8]}-{text[8]}")))


def nir(chance: Random) -> Value:
    text = check_digits.nir(chance)
    return Value(chance.choice((text, grouped(text, 1, 2, 2, 2, 3, 3, 2, by=" "))))


def codice_fiscale(chance: Random) -> Value:
    return Value(check_digits.codice_fiscale(chance))


def steuer_id(chance: Random) -> Value:
    text = check_digits.steuer_id(chance)
    return Value(chance.choice((text, grouped(text, 2, 3, 3, 3, by=" "))))


def bsn(chance: Random) -> Value:
    text = check_digits.bsn(chance)
    return Value(chance.choice((text, grouped(text, 4, 2, 3, by="."))))


KINDS = (
    Kind("European telephone", phone, beside=PHONE_WORDS, keys=("phone", "telefon"), disguises="digits text"),
    Kind("DNI", dni, beside=("DNI {}", "DNI: {}"), keys=("dni",), disguises="text"),
    Kind("NIE", nie, beside=("NIE {}", "NIE: {}"), keys=("nie",), disguises="text"),
    Kind("NIR", nir, beside=("NIR {}", "NIR: {}"), keys=("nir",), disguises="digits text", is_number=True),
    Kind(
        "codice fiscale",
        codice_fiscale,
        beside=("codice fiscale {}", "codice fiscale: {}"),
        keys=("codice_fiscale",),
        disguises="text",
    ),
    Kind(
        "Steuer-ID",
        steuer_id,
        beside=(
            "Steuer-ID {}",
            "Steuer-ID: {}",
            "Steueridentifikationsnummer {}",
            "IdNr. {}",
            "German tax ID {}",
        ),
        bare=False,
        keys=("steuer_id", "steuerId"),
        disguises="digits text",
    ),
    Kind(
        "BSN",
        bsn,
        beside=("BSN {}", "BSN: {}", "burgerservicenummer {}", "mijn BSN is {}"),
        bare=False,
        keys=("bsn",),
        disguises="digits text",
    ),
)
