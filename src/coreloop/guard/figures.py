"""Whether the trailers' figures agree with each other and with the lines."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.text import printable

_COUNT: Final = re.compile(r"[0-9]{1,10}")


def refuse_figures(figures: Mapping[str, str], trailers: Mapping[str, str]) -> Iterator[str]:
    """Figures in the lines must be equal to the trailers'."""
    for name, value in figures.items():
        if trailers[name] != value:
            yield f"the trailer {name} is {printable(trailers[name])}, but the lines say {value}"


def refuse_counts(observed: int, trailers: Mapping[str, str]) -> Iterator[str]:
    """Observed must be the sum of the Evidence, and Unique-Questions at most Observed."""
    if trailers["Observed"] != str(observed):
        yield f"the trailer Observed is {printable(trailers['Observed'])}, but the Evidence says {observed}"
    questions = trailers["Unique-Questions"]
    if not _COUNT.fullmatch(questions) or int(questions) > observed:
        yield f"the trailer Unique-Questions is {printable(questions)} of {observed}"


def refuse_rate(succeeded: int, observed: int, unit: str, trailers: Mapping[str, str]) -> Iterator[str]:
    """Success-Rate must have three decimals and agree with the counts."""
    rate = trailers["Success-Rate"]
    is_share = re.fullmatch(r"[01]\.\d{3}", rate, re.ASCII)
    if not is_share or abs(float(rate) * observed - succeeded) > 0.5 + 0.0005 * observed:
        yield f"the trailer Success-Rate does not fit {succeeded} of {observed} {unit}"
