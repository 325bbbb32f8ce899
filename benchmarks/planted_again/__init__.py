"""A second generator of private values, written from docs/reference/masking.md alone.

Shares only the types and the disguises' names with `benchmarks.planted`: no value, word or sentence.
"""

from .samples import make_samples
from .values import names_file

__all__ = ["make_samples", "names_file"]
