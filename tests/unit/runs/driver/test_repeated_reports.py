"""What counts as a new report."""

from pathlib import Path
from typing import Any

import orjson

from coreloop.runs.agent.agent_report import read_report
from coreloop.runs.clock import SystemClock
from coreloop.runs.driver.repeated_reports import News
from coreloop.runs.events import IterationCommitted
from coreloop.runs.manage import create_run
from coreloop.runs.stores.store import store_at
from running import record_report


def test_a_report_that_differs_only_in_blanks_is_not_new(tmp_path: Path):
    with store_at(tmp_path / "runs.db") as store:
        run_id = create_run(store, "why?", kind="driven")
        news = News(store)

        def is_new(*texts: str) -> bool:
            for text in texts:
                finding: dict[str, Any] = {"text": text, "sources": ["https://example.com"]}
                record_report(store, run_id, read_report(orjson.dumps({"findings": [finding]})))
            heard = news.hear(run_id)
            after = list(store.read(run_id))[-1][0]
            number = 1 + sum(isinstance(event, IterationCommitted) for _, event in store.read(run_id))
            now = SystemClock().now()
            assert store.append(run_id, [IterationCommitted(at=now, iteration=number)], after=after) == []
            return heard

        assert is_new("all is done")
        assert not is_new(" all  is\tdone\n")
        assert not is_new("all\u00a0is\u200b done\u3164")
        assert is_new("all is undone")
