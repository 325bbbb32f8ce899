"""What a tool missed and what it replaced in vain, counted by kind."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.measured.exports import exported, masked_by
from benchmarks.planted import PLAIN, Harmless, Planted, Sample, names_file
from benchmarks.planted.score import Secrets, strings

from coreloop.sanitize.sanitize_record import Mode

_TIME = "time field"
Key = tuple[str, bool]
"""A kind, and whether the value is plain."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many values of each kind a tool left readable, and how many look-alikes it replaced."""

    missed: Counter[Key]
    replaced: Counter[str]


@dataclass(frozen=True, slots=True)
class Result:
    """The values that a tool left readable and the look-alikes that it replaced, each with its record."""

    missed: Sequence[tuple[Planted, Sample]]
    replaced: Sequence[tuple[Harmless, Sample]]

    def tally(self) -> Tally:
        return Tally(
            count_planted(planted for planted, _ in self.missed),
            Counter(harmless.like for harmless, _ in self.replaced),
        )


def count_planted(planted: Iterable[Planted]) -> Counter[Key]:
    return Counter((value.kind, value.form == PLAIN) for value in planted)


def result_of_mode(samples: Sequence[Sample], mode: Mode, *, names: str = names_file()) -> Result:
    outputs = exported(samples, mode, names=names)
    missed = list(readable(samples, outputs))
    if mode == "mask":
        return Result(missed, list(replaced(samples, outputs)))
    # Pseudonyms are random: what is really left is left under another key too. Nothing else stays as it is,
    # so that look-alikes say nothing.
    suspects = [sample for _, sample in missed]
    if not suspects:
        return Result([], [])
    again = {id(planted) for planted, _ in readable(suspects, exported(suspects, mode, names=names))}
    return Result([pair for pair in missed if id(pair[0]) in again], [])


def result_of_tool(samples: Sequence[Sample], tool: str) -> Result:
    outputs = masked_by(tool, samples)
    return Result(list(readable(samples, outputs)), list(replaced(samples, outputs)))


def readable(samples: Sequence[Sample], outputs: Sequence[Any]) -> Iterator[tuple[Planted, Sample]]:
    """The planted values that can still be read in a tool's output.

    The time of the request counts only for a value that stands there: cut to the hour, ``T20:00:00``, it
    would hold the year 2000.
    """
    for sample, output in zip(samples, outputs, strict=True):
        texts = list(strings(output))
        without_time = list(strings({name: value for name, value in output.items() if name != "ts"}))
        for planted in sample.planted:
            secrets = Secrets(planted.value, planted.written)
            if any(secrets.are_in(text) for text in (texts if planted.place == _TIME else without_time)):
                yield planted, sample


def replaced(samples: Sequence[Sample], outputs: Sequence[Any]) -> Iterator[tuple[Harmless, Sample]]:
    """The look-alikes that are no longer as they were."""
    for sample, output in zip(samples, outputs, strict=True):
        if sample.harmless:
            texts = [version for text in strings(output) for version in _with_json_inside(text)]
            for harmless in sample.harmless:
                if not any(harmless.text in text for text in texts):
                    yield harmless, sample


def _with_json_inside(text: str) -> Iterator[str]:
    """A text and, if it is JSON, the texts in it."""
    yield text
    if text.startswith("{"):
        try:
            inner = json.loads(text)
        except ValueError:
            return
        for part in strings(inner):
            yield from _with_json_inside(part)
