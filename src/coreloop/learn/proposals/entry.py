"""Fields that candidates, counterexamples and statements share."""

from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

SCHEMA_VERSION: Final = 1
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class SuggestedAppend:
    """The proposed text and its target; the target is null if the tool's definition is not known."""

    target_file: str | None
    target_symbol: str | None
    section: str
    body: str
