"""The demos' scripts at work: every request with the record that the real collector wrote of it."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from coreloop.admin.demo.agent import answer
from coreloop.admin.demo.run import load_tools, scripted_requests
from coreloop.admin.demo.scenario import FINLAB, HELPDESK
from coreloop.admin.demo.subjects import read_rows
from coreloop.observe import AuditCollector

NOW = datetime(2026, 4, 25, 23, 59, tzinfo=UTC)
SCENARIOS = {"helpdesk": HELPDESK, "finlab": FINLAB}


@dataclass(frozen=True)
class Worked:
    """A scenario, its tools, and its requests with their records and answers."""

    scenario: object
    tools: object
    requests: list


def rows_of(scenario):
    """The rows from which the subjects of questions are drawn."""
    return tuple(read_rows(scenario.project / scenario.subjects.table).values())


@cache
def tools_of(scenario):
    return load_tools(scenario.project, scenario.name)


def work(scenario, seed, folder, tools=None):
    """Answer all requests of a seed, all recorded into one file."""
    tools = tools or tools_of(scenario)
    requests = list(scripted_requests(scenario, seed))
    answers = [answer(scenario, request, tools, collector(folder, request.question)) for request in requests]
    return Worked(scenario, tools, list(zip(requests, records(folder), answers, strict=True)))


def answered(scenario, request, folder):
    """One answer and its record."""
    given = answer(scenario, request, tools_of(scenario), collector(folder))
    (record,) = records(folder)
    return given, record


def collector(folder, question="?"):
    return AuditCollector(question, data_dir=folder, clock_ns=lambda: 1_777_109_400_000_000_000)


def records(folder):
    lines = (folder / "audit" / "ai-ask" / "2026-04-25.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]
