"""Mask records by Presidio's pattern recognisers or by scrubadub; runs in an environment of its own.

    uv run --no-project --with presidio-analyzer==2.2.366 --with scrubadub==2.0.1 \\
        python benchmarks/measured/other_tools.py presidio < records.jsonl > masked.jsonl

Every string, key and number of a record (except `OWN_FIELDS`) is given to the tool as a text of its own. No
language model: neither of the two needs one for its patterns, and coreloop has none.
"""

import inspect
import json
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

COUNTRIES = ("us", "uk", "kr", "es", "it", "de")
"""Of the planted kinds; Presidio has no patterns for France and the Netherlands."""
REGIONS = ("KR", "US", "GB", "DE", "FR", "ES", "IT", "NL")
NOT_PRIVATE = ("DateRecognizer", "UuidRecognizer")
"""They report every date and every identifier, which are harmless values in this comparison."""

OWN_FIELDS = frozenset(
    [
        "ts",
        "request_id",
        "question_hash",
        "args_hash",
        "tool_sequence_hash",
        "duration_ms",
        "result_size_bytes",
        "chunk_len",
        "duration_total_ms",
    ]
)
"""Hashes and measurements, in which nothing is planted: left out, since they are half of the time."""


def presidio() -> Callable[[str], str]:
    """All pattern recognisers without a country and of `COUNTRIES`, also those that are off by default."""
    from presidio_analyzer import (
        AnalyzerEngine,
        PatternRecognizer,
        RecognizerRegistry,
        predefined_recognizers,
    )
    from presidio_analyzer.nlp_engine.no_op_nlp_engine import NoOpNlpEngine
    from presidio_analyzer.predefined_recognizers import PhoneRecognizer

    classes = [
        found
        for name, found in inspect.getmembers(predefined_recognizers, inspect.isclass)
        if issubclass(found, PatternRecognizer) and name not in NOT_PRIVATE
    ]
    recognizers = [
        made(supported_language="en") for made in classes if made.COUNTRY_CODE in (None, *COUNTRIES)
    ]
    recognizers.append(PhoneRecognizer(supported_regions=REGIONS))
    engine = NoOpNlpEngine([{"lang_code": "en", "model_name": "none"}])
    engine.load()
    analyzer = AnalyzerEngine(registry=RecognizerRegistry(recognizers=recognizers), nlp_engine=engine)

    def mask(text: str) -> str:
        masked, behind = "", 0
        for result in sorted(analyzer.analyze(text, language="en"), key=lambda result: result.start):
            if result.start >= behind:
                masked += f"{text[behind : result.start]}<{result.entity_type}>"
            behind = max(behind, result.end)
        return masked + text[behind:]

    return mask


def scrubadub() -> Callable[[str], str]:
    """The detectors that are on by default, of both English locales."""
    import scrubadub as package

    scrubbers = [package.Scrubber(locale=locale) for locale in ("en_US", "en_GB")]

    def mask(text: str) -> str:
        for scrubber in scrubbers:
            text = scrubber.clean(text)
        return text

    return mask


def rewritten(part: Any, mask: Callable[[str], str]) -> Any:
    if isinstance(part, dict):
        return {
            mask(key): entry if key in OWN_FIELDS else rewritten(entry, mask) for key, entry in part.items()
        }
    if isinstance(part, list):
        return [rewritten(entry, mask) for entry in part]
    if part is None or isinstance(part, bool):
        return part
    masked = mask(str(part))
    return part if masked == str(part) else masked


def main() -> None:
    mask = lru_cache(maxsize=100_000)({"presidio": presidio, "scrubadub": scrubadub}[sys.argv[1]]())
    for line in sys.stdin:
        sys.stdout.write(json.dumps(rewritten(json.loads(line), mask), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
