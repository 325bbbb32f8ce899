"""Processor time from an export of 10,000 spans to their records, as a multiple of parsing its JSON."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from coreloop.base.project.workspace import open_workspace
from coreloop.observe.importers.otlp_http import spans_in
from coreloop.observe.importers.received import open_receiver

ARGUMENTS = {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": '{"room": 7}'}}
NAME = {"key": "gen_ai.tool.name", "value": {"stringValue": "book"}}
SPAN = {"endTimeUnixNano": "1790000000100000000", "attributes": [NAME, ARGUMENTS]}
SPANS = [{**SPAN, "traceId": f"{n // 10:032}", "spanId": f"{n:016}"} for n in range(10_000)]
BODY = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": SPANS}]}]}).encode()
with TemporaryDirectory() as folder, open_receiver(open_workspace(Path(folder))) as receiver:
    began = time.process_time()
    json.loads(BODY)
    parsed = time.process_time()
    receiver.add(spans_in(BODY, "application/json"), now_s=0)
    assert sum(report.added for report in receiver.write_records(now_s=1e9)) == 1_000
    all_s = time.process_time() - parsed
    print(f"{all_s / (parsed - began):.0f} times; {10_000 / all_s:,.0f} spans a second")
