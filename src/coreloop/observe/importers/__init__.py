"""Importers that convert traces of other tools into records: one module per format, and shared modules."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from coreloop.observe.importers import claude_code, inspect_log, langfuse, openai_chat, otlp
from coreloop.observe.importers.files import TraceFile, Unusable
from coreloop.observe.importers.trace import SkippedTrace, TracedRequest

Read: TypeAlias = Callable[[Iterable[TraceFile]], Iterator[TracedRequest | SkippedTrace | Unusable]]


class Importer(NamedTuple):
    """A format: the suffixes of its files, and their reader."""

    suffixes: tuple[str, ...]
    read: Read


IMPORTERS: Final = {
    module.NAME: Importer(module.SUFFIXES, module.read)
    for module in (claude_code, otlp, langfuse, inspect_log, openai_chat)
}
