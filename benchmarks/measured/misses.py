"""A list of what was missed, with examples, for the work on the detectors."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmarks.measured.scores import Result
from benchmarks.measured.tables import totals
from benchmarks.planted import PLAIN, Planted, Sample
from benchmarks.planted.score import strings

_N_EXAMPLES = 3
_N_DISGUISES = 8


def missed(samples: Sequence[Sample], result: Result) -> Iterator[str]:
    """By kind, most missed first: counts by form and place, then examples of the texts in the records."""
    planted, _ = totals(samples)
    by_kind: dict[str, list[tuple[Planted, Sample]]] = defaultdict(list)
    for value, sample in result.missed:
        by_kind[value.kind].append((value, sample))
    for kind, pairs in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        plain = [pair for pair in pairs if pair[0].form == PLAIN]
        forms = Counter(value.form for value, _ in pairs if value.form != PLAIN)
        places = Counter(value.place for value, _ in pairs)
        yield (
            f"- **{kind}**: plain {len(plain)} of {planted[kind, True]}, "
            f"disguised {len(pairs) - len(plain)} of {planted[kind, False]} ({_counts(forms)}); "
            f"places: {_counts(places)}"
        )
        by_form = {value.form: (value, sample) for value, sample in pairs if value.form != PLAIN}
        examples = [*plain[:_N_EXAMPLES], *list(by_form.values())[:_N_DISGUISES]]
        yield from (f"  - {value.form} / {value.place}: {_text(value, sample)}" for value, sample in examples)


def replaced(samples: Sequence[Sample], result: Result) -> Iterator[str]:
    """Look-alikes by family, most often replaced first."""
    texts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for harmless, _ in result.replaced:
        texts[harmless.like, harmless.shape][f"{harmless.text} / {harmless.place}"] += 1
    total = Counter((harmless.like, harmless.shape) for sample in samples for harmless in sample.harmless)
    for family, found in sorted(texts.items(), key=lambda item: -item[1].total()):
        like = f"like {family[0]}: " if family[0] else ""
        examples = "; ".join(f"`{text}`" for text, _ in found.most_common(6))
        yield f"- {like}{family[1]}: {found.total()} of {total[family]}: {examples}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common(6))


def _text(value: Planted, sample: Sample) -> str:
    forms = value.written, json.dumps(value.written)[1:-1]
    text = next(
        (text for text in strings(sample.record) if any(form in text for form in forms)), value.written
    )
    return repr(text if len(text) < 170 else f"{text[:110]} … {text[-50:]}")
