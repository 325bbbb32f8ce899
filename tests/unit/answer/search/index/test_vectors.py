"""Sentence vectors find what shares no word with a question."""

from datetime import UTC, datetime

import pytest

from coreloop.answer.search.index.search_index import search_files
from coreloop.base.project.workspace import open_workspace
from indexing import Indexed
from model_stand_in import answers, model_stand_in


def vectors(*rows: tuple[float, float]) -> dict:
    return {"data": [{"embedding": list(row)} for row in rows]}


@pytest.mark.parametrize("is_up", [True, False])
def test_a_passage_without_a_word_of_the_question_is_found_by_its_meaning(project: Indexed, is_up: bool):
    project.write({"a.md": "# Holidays\n\nStaff rest for 20 days.\n", "b.md": "# Tea\n\nIt is green.\n"})
    replies = [answers(200, vectors((1, 0), (0, 1))) if is_up else answers(500, {})]
    with model_stand_in() as server:
        server.acts += [*replies, answers(200, vectors((0.9, 0.1)))]
        endpoint = f"endpoints: {{own: {{url: '{server.url}'}}}}\n"
        project.write({"coreloop.yaml": f"search: {{encoder: 'own:e5'}}\n{endpoint}"})
        found, _ = search_files(open_workspace(project.root), "vacation", now=datetime.now(UTC))
    assert [source.location for source in found] == (["a.md", "b.md"] if is_up else [])
    assert (server.bodies[0]["model"], "Holidays" in server.bodies[0]["input"][0]) == ("e5", True)
