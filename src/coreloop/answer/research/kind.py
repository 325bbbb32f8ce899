"""The kinds of runs that answer questions; importing this registers them."""

from coreloop.answer.research.research_state import ASK, KIND, Knowledge, fold
from coreloop.answer.research.views import committed, views
from coreloop.runs.kinds import Kind, register_kind

register_kind(Kind(name=KIND, initial=Knowledge, fold=fold, committed=committed, views=views))
register_kind(Kind(name=ASK, searches=False, initial=Knowledge, fold=fold))
