"""The kinds of runs that answer questions; importing this registers them."""

from coreloop.answer.research.knowledge import ASK, KIND, fold, initial
from coreloop.answer.research.views import committed, views
from coreloop.runs.kinds import Kind, register_kind

register_kind(Kind(name=KIND, initial=initial, fold=fold, committed=committed, views=views))
register_kind(Kind(name=ASK, searches=False, initial=initial, fold=fold))
