"""Whether the trailers' figures agree with each other, and with what lines say of them."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from coreloop.text import printable

_COUNT: Final = re.compile(r"[0-9]{1,10}")


def refuse_figures(said: Mapping[str, str], trailers: Mapping[str, str]) -> Iterator[str]:
    """Figures that the lines name must be those of the trailers."""
    for name, value in said.items():
        if trailers[name] != value:
            yield f"the trailer {name} is {printable(trailers[name])}, but the lines say {value}"


def refuse_counts(observed: int, trailers: Mapping[str, str]) -> Iterator[str]:
    """Observed is what the Evidence adds up to; there are no more different questions than that."""
    if trailers["Observed"] != str(observed):
        yield f"the trailer Observed is {printable(trailers['Observed'])}, but the Evidence says {observed}"
    questions = trailers["Unique-Questions"]
    if not _COUNT.fullmatch(questions) or int(questions) > observed:
        yield f"the trailer Unique-Questions is {printable(questions)} of {observed}"


def refuse_rate(succeeded: int, observed: int, unit: str, trailers: Mapping[str, str]) -> Iterator[str]:
    """A rate of three decimals, times what was observed, is the count that succeeded, or is refused."""
    written = trailers["Success-Rate"]
    is_share = re.fullmatch(r"[01]\.\d{3}", written, re.ASCII)
    if not is_share or abs(float(written) * observed - succeeded) > 0.5 + 0.0005 * observed:
        yield f"the trailer Success-Rate does not fit {succeeded} of {observed} {unit}"
