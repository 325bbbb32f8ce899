"""What candidates and counterexamples have in common as entries of their files."""

from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

SCHEMA_VERSION: Final = 1
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class SuggestedAppend:
    """The proposed text and where it goes; without a known definition the target is null."""

    target_file: str | None
    target_symbol: str | None
    section: str
    body: str
