"""Detection, masking, pseudonymization and removal of private data in texts, records and folders."""

from typing import TYPE_CHECKING, Any

from coreloop.base.messages import Phrase
from coreloop.sanitize.find import PrivateData, find

if TYPE_CHECKING:
    from coreloop.sanitize.masking import sanitize_text
    from coreloop.sanitize.names import Names, read_names

__all__ = ["Names", "PrivateData", "find", "read_names", "sanitize_text"]


def __getattr__(name: str) -> Any:
    # loaded on demand: promotion only uses `find`
    if name in {"Names", "read_names"}:
        from coreloop.sanitize import names

        return getattr(names, name)
    if name == "sanitize_text":
        from coreloop.sanitize.masking import sanitize_text

        return sanitize_text
    raise AttributeError(Phrase("module {name!r} has no attribute {name2!r}", name=__name__, name2=name))
