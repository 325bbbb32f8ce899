"""What `sanitize` does with the fields that adapters add to a record."""

from typing import Any

import pytest

from coreloop.sanitize.find_in_record import Finder
from coreloop.sanitize.find_in_text import Numbering
from coreloop.sanitize.hash_and_drop import Pseudonymizer
from coreloop.sanitize.pseudonyms import Pseudonyms
from coreloop.sanitize.sanitize_record import Masker
from coreloop.sanitize.vocabulary import KnownWords
from logs import record

KEY = b"k" * 32
OUTER, INNER = "req-1111111111111111", "req-2222222222222222"

KNOWN = KnownWords(tools={"analysis": ("company",)})


def visitors() -> list[Finder]:
    return [Masker(Pseudonyms(KEY), Numbering()), Pseudonymizer(Pseudonyms(KEY), KNOWN)]


@pytest.mark.parametrize("mode", [0, 1], ids=["mask", "hash"])
def test_calling_request_has_the_pseudonym_of_its_own_record(mode: int) -> None:
    visitor = visitors()[mode]
    outer: dict[str, Any] = visitor.record(record(request_id=OUTER))
    inner: dict[str, Any] = visitor.record(record(request_id=INNER, parent_request_id=OUTER))
    assert inner["parent_request_id"] == outer["request_id"] not in {OUTER, INNER}


@pytest.mark.parametrize("mode", [0, 1], ids=["mask", "hash"])
def test_case_links_the_same_requests_under_other_names(mode: int) -> None:
    visitor = visitors()[mode]
    first, second = (
        visitor.record(record(request_id=id, case=["1234abcd", "ffff0000"])) for id in (OUTER, INNER)
    )
    assert first["case"] == second["case"]
    assert len(set(first["case"])) == 2
    assert not {"1234abcd", "ffff0000"} & set(first["case"])


def test_state_keeps_only_words_of_the_source() -> None:
    known = KnownWords(
        tools={"cancel": ("order_id",)}, values={"cancel": frozenset({"pending", "status", "locked"})}
    )
    call = {
        "name": "cancel", "ok": True, "args": {},
        "saw": {"order_id": {"status": "pending", "locked": True, "Kim": "Kim's"}, "Kim": {}},
    }  # fmt: skip
    result = Pseudonymizer(Pseudonyms(KEY), known).record(record(tool_calls=[call]))
    saw = result["tool_calls"][0]["saw"]
    assert saw["order_id"].items() >= {"status": "pending", "locked": True}.items()
    assert "Kim" not in str(saw)
