"""Records with planted private values, made from a seed, and how a tool's output is scored.

Written without knowledge of the detectors, which are developed on other seeds.
"""

from .people import names_file
from .records import PLAIN, Harmless, Planted, Sample, make_samples

__all__ = ["PLAIN", "Harmless", "Planted", "Sample", "make_samples", "names_file"]
