"""The kinds of runs that know findings and hypotheses; importing this registers them."""

from coreloop.answer.research import agents
from coreloop.answer.research.knowledge import ASK, KIND, fold, initial
from coreloop.answer.research.views import views
from coreloop.runs.agent.agent import KIND as AGENT
from coreloop.runs.kinds import Kind, register_kind

register_kind(Kind(name=KIND, initial=initial, fold=fold, views=views))
register_kind(Kind(name=ASK, searches=False, initial=initial, fold=fold))
register_kind(Kind(name=AGENT, initial=agents.initial, fold=agents.fold))
