"""A record's failure labels as a bit set."""

from collections.abc import Sequence

from coreloop.base.error_classes import BITS, error_class
from coreloop.observe.reading.fields import CallFields, CountedFields
from coreloop.observe.reading.outcome import worked


def signals(fields: CountedFields, calls: Sequence[CallFields]) -> int:
    """The labels and error classes of a record as a bit set, for `coreloop.base.error_classes.names_of`.

    The classes are those of its error and of its failed calls' errors. A short answer, which depends on a
    setting, is left to the queries.
    """
    bits = 0
    if fields.violation:
        bits |= BITS["violation"]
    if fields.error:
        bits |= BITS["error"] | BITS[error_class(str(fields.error))]
    if fields.omitted_error is not None:
        bits |= BITS["tool_error"] | BITS[error_class(fields.omitted_error)]
    if any(not override.succeeded for override in fields.override_calls or ()):
        bits |= BITS["override_failed"]
    for call in calls:
        if call.extreme_flags:
            bits |= BITS["extreme_flags"]
        if worked(call) is False:
            bits |= BITS["tool_error"]
            bits |= 0 if call.error is None else BITS[error_class(str(call.error))]
    return bits
