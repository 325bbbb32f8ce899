"""Planted audit records: private values of every kind, place and disguise, and the scorer of what is left.

Everything is made up at run time from a seed; no value belongs to anybody. Numbers are valid all the same, or
rules that check nothing would pass.
"""

from planted.records import Planted, planted_records
from planted.score import Score, score

__all__ = ["Planted", "Score", "planted_records", "score"]
