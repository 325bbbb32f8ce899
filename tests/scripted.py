"""The demo's script at work: every request with the record that the real collector wrote of it."""

import json
from datetime import UTC, datetime
from functools import cache

from coreloop.admin.demo.agent import answer
from coreloop.admin.demo.run import load_tools
from coreloop.admin.demo.script import PACKAGE, PROJECT, scripted_requests
from coreloop.observe import AuditCollector

NOW = datetime(2026, 4, 25, 23, 59, tzinfo=UTC)


@cache
def tools_of_the_demo():
    return load_tools(PROJECT, PACKAGE)


def work(seed, folder, tools=None):
    """Answer all requests of a seed, all recorded into one file; returns requests, records and answers."""
    tools = tools or tools_of_the_demo()
    requests = list(scripted_requests(seed))
    answers = [answer(request, tools, collector(folder, request.question)) for request in requests]
    return list(zip(requests, records(folder), answers, strict=True))


def collector(folder, question="?"):
    return AuditCollector(question, data_dir=folder, clock_ns=lambda: 1_777_109_400_000_000_000)


def records(folder):
    lines = (folder / "audit" / "ai-ask" / "2026-04-25.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]
