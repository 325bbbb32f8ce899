"""The table of promises, as the tests and scripts/promises.py read it."""

from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent
DOCUMENTS = {  # the files that hold the tests of each
    "003": (
        "test_003_core_loop.py",
        "test_003_promotion.py",
        "test_003_sharing.py",
        "test_003_commands.py",
        "test_003_figures.py",
    ),
    "000": ("test_000_loop.py", "test_000_drift.py"),
    "001": ("test_001_deep_research.py", "test_001_thinking.py", "test_001_figures.py"),
    "002": ("test_002_research_service.py", "test_002_http.py", "test_002_figures.py"),
    "004": ("test_004_self_correction.py", "test_004_figures.py"),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """One row: what a document promises, and how that is read where it is not kept to the letter."""

    document: str
    number: int
    promise: str
    read_as: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        return f"{self.document}-{self.number}"


def read_promises(document: str) -> list[Promise]:
    """The rows of a document in the order of their numbers; an unknown key of a row is an error."""
    rows = _read(document)["rows"]
    return [Promise(document, number, **row) for number, row in sorted(rows.items())]


def _read(document: str) -> dict:
    return yaml.safe_load((FOLDER / f"promises_{document}.yaml").read_text(encoding="utf-8"))
