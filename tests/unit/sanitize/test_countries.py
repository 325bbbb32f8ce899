"""Private data of each country is masked; numbers that fail the check and everyday words stay."""

from coreloop.sanitize.detectors.rule import COUNTRIES, Detection, OwnPattern, using
from coreloop.sanitize.find_in_text import find_hits, sanitize_text
from rows import each_row

MASKED = {
    "us": {
        "SSN with dashes": ("078-05-1120 on file", "[SSN-1] on file"),
        "SSN beside its word": ("social security number 219099999", "social security number [SSN-1]"),
        "ITIN": ("ITIN 912-70-1234", "ITIN [ITIN-1]"),
        "EIN": ("EIN: 12-3456789", "EIN: [EIN-1]"),
        "telephone with dashes": ("415-555-2671 after close", "[PHONE-1] after close"),
        "telephone with an area in brackets": ("(212) 555-0147", "[PHONE-1]"),
        "telephone with blanks beside a word": ("call 415 555 2671", "call [PHONE-1]"),
        "toll-free telephone": ("1-800-555-0199", "[PHONE-1]"),
        "street": ("ship to 1600 Pennsylvania Avenue NW", "ship to [ADDRESS-1] NW"),
        "street, town, state and ZIP code": ("350 Fifth Avenue, New York, NY 10118", "[ADDRESS-1]"),
        "street over two lines": ("742 Evergreen\nTerrace", "[ADDRESS-1]"),
        "post-office box": ("P.O. Box 1234", "[ADDRESS-1]"),
    },
    "uk": {
        "National Insurance number": (
            "QQ 12 34 56 C is refused, AB 12 34 56 C is not",
            "QQ 12 34 56 C is refused, [NINO-1] is not",
        ),
        "National Insurance number without blanks": ("nino AB123456C", "nino [NINO-1]"),
        "NHS number": ("patient 943 476 5919", "patient [NHS-1]"),
        "London": ("020 7946 0958", "[PHONE-1]"),
        "mobile": ("07700900123", "[PHONE-1]"),
        "country code of a town": ("01632 960983", "[PHONE-1]"),
        "street and postcode": ("10 Downing Street, London SW1A 2AA", "[ADDRESS-1]"),
    },
    "eu": {
        "DNI": ("DNI 12345678Z", "DNI [DNI-1]"),
        "NIE": ("X1234567L", "[NIE-1]"),
        "NIR": ("2 55 08 14 168 025 38", "[NIR-1]"),
        "codice fiscale": ("RSSMRA85T10A562S", "[FISCAL-1]"),
        "Steuer-ID": ("86 095 742 719", "[STEUER-1]"),
        "BSN": ("BSN 111222333", "BSN [BSN-1]"),
    },
}
KEPT = {
    "us": [
        "000-12-3456",
        "666-12-3456",
        "987-66-4321",
        "219 09 9999",
        "12-3456789",
        "415 555 2671",
        "12 Monkeys",
        "item 12 Main list",
        "5 St",
    ],
    "uk": ["BG123456A", "943 476 5918", "order 9434765919 shipped", "WC2H 9JQ"],
    "eu": [
        "12345678A",
        "X1234567A",
        "2 55 08 14 168 025 39",
        "RSSMRA85T10A562T",
        "86 095 742 718",
        "111222333",
        "BSN 111222334",
    ],
}
ALONE = [(country, *case) for country, cases in MASKED.items() for case in cases.values()]


@each_row(("country", "before", "after"), ALONE, ids=[f"{c}: {b}" for c, b, _ in ALONE])
def test_private_data_of_a_country_is_masked(country, before: str, after: str) -> None:
    assert sanitize_text(before) == after
    with using(Detection(countries=(country,))):
        assert sanitize_text(before) == after


@each_row(("country", "text"), [(name, text) for name, texts in KEPT.items() for text in texts])
def test_a_look_alike_of_a_country_stays(country, text: str) -> None:
    with using(Detection(countries=(country,))):
        assert sanitize_text(text) == text


def test_a_country_that_is_not_chosen_is_not_searched() -> None:
    text = "900101-1234567 and 078-05-1120 and 12345678Z and 943 476 5919"
    kinds = {"kr": "RRN", "us": "SSN", "uk": "NHS", "eu": "DNI"}
    for country in COUNTRIES:
        with using(Detection(countries=(country,))):
            assert [finding.kind for finding in find_hits(text)] == [kinds[country]]


NAMES = {
    "name: John Smith": "name: [PERSON-1]",
    '"customer": "Maria Okonkwo"': '"customer": "[PERSON-1]"',
    "Dear Henrik,": "Dear [PERSON-1],",
    "full_name: Priya": "full_name: [PERSON-1]",
    "예금주 김뽀미": "예금주 [PERSON-1]",
    "성함은 남뽀미입니다": "성함은 [PERSON-1]입니다",
    "born on March 4, 1985": "born on [BIRTH-1]",
    "DOB 03/04/1985": "DOB [BIRTH-1]",
    "생년월일: 1985-03-04": "생년월일: [BIRTH-1]",
}
WORDS = [
    "name: Income Statement",
    "customer: Premium Plan",
    "Dear Customer,",
    "Dear Sir or Madam",
    "금융주 대표 종목",
    "우리은행 고객님",
    "born in 1985",
    "생년월일 입력",
]


@each_row(("before", "after"), [*NAMES.items(), *zip(WORDS, WORDS, strict=True)])
def test_a_name_is_masked_beside_its_word_and_other_words_stay(before: str, after: str) -> None:
    assert sanitize_text(before) == after


def test_own_patterns_are_searched_even_in_words_and_hashes_and_in_disguise() -> None:
    own = (OwnPattern("STAFF", r"EMP-[0-9]{6}"), OwnPattern("CASE", r"case (?P<value>[0-9a-f]{8})"))
    with using(Detection(own=own)):
        assert sanitize_text("EMP-123456") == "[STAFF-1]"
        assert sanitize_text("ＥＭＰ－１２３４５６ 담당") == "[STAFF-1] 담당"
        assert sanitize_text("case deadbeef") == "case [CASE-1]"
    assert sanitize_text("EMP-123456") == "EMP-123456"


def test_an_allowed_value_stays_only_if_it_is_the_whole_finding() -> None:
    with using(Detection(allow=frozenset({"help@example.com"}))):
        assert sanitize_text("help@example.com") == "help@example.com"
        assert sanitize_text("nohelp@example.com") == "[EMAIL-1]"
