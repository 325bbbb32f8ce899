from collections.abc import Iterator

import pytest

from model_stand_in import ModelStandIn, model_stand_in


@pytest.fixture
def server() -> Iterator[ModelStandIn]:
    with model_stand_in() as stand_in:
        yield stand_in
