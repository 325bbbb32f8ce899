"""The kinds of runs that answer questions; importing this registers them."""

from coreloop.answer.research.research_files import committed, views
from coreloop.answer.research.research_state import ASK, KIND, Knowledge, fold
from coreloop.runs.kinds import Kind, register_kind

register_kind(Kind(name=KIND, initial=Knowledge, fold=fold, committed=committed, views=views))
register_kind(Kind(name=ASK, searches=False, initial=Knowledge, fold=fold))
