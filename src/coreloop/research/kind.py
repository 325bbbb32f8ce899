"""The kind of the runs of a research; importing it registers it, so that their states are whole."""

from coreloop.research.knowledge import KIND, fold, initial
from coreloop.research.views import views
from coreloop.runs.kinds import Kind, register_kind

register_kind(Kind(name=KIND, initial=initial, fold=fold, views=views))
