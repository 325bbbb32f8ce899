"""The kind of a research's runs; importing this registers it."""

from coreloop.answer.research.knowledge import KIND, fold, initial
from coreloop.answer.research.views import views
from coreloop.answer.research.working import committed
from coreloop.runs.kinds import Kind, register_kind

register_kind(Kind(name=KIND, initial=initial, fold=fold, committed=committed, views=views))
