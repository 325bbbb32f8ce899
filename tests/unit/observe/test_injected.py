"""Parameters that a framework injects are recognized by names alone."""

from typing import Annotated, Any, Generic, Literal, Optional, TypeVar, Union

import pytest

from coreloop.observe.decorator import tool_parameters

T = TypeVar("T")


class RunContext(Generic[T]):
    pass


class Context:
    pass


class InjectedState:
    def __init__(self, field=None):
        self.field = field


class Contextual:
    pass


class Depends:
    pass


class Hostile:
    def __getattr__(self, name):
        raise RuntimeError


def injected(annotation, default=...):
    def tool(value):
        return value

    tool.__annotations__ = {"value": annotation}
    if default is not ...:
        tool.__defaults__ = (default,)
    return "value" in tool_parameters(tool)[1]


@pytest.mark.parametrize(
    "annotation",
    [
        pytest.param(Context, id="class"),
        pytest.param(RunContext[str], id="generic"),
        pytest.param(Optional[Context], id="Optional"),  # noqa: UP045
        pytest.param(Union[None, RunContext[int]], id="Union"),  # noqa: UP007
        pytest.param(Annotated[dict, InjectedState], id="Annotated with a class"),
        pytest.param(Annotated[dict, "state", InjectedState("messages")], id="Annotated with an object"),
        pytest.param(Optional["RunContext[str]"], id="forward reference"),
        pytest.param("Context", id="string"),
        pytest.param("Annotated[dict[str, Any], InjectedState('messages')]", id="string, Annotated"),
    ],
)
def test_parameters_filled_in_by_a_framework_are_injected(annotation):
    assert injected(annotation)


@pytest.mark.parametrize(
    "annotation",
    [
        str,
        Any,
        None,
        Contextual,
        Literal["Context"],
        Annotated[str, "Context of the question"],
        "str",
        "Contextual",
        "not a type at all (",
        7,
        pytest.param(Hostile(), id="hostile"),
    ],
    ids=repr,
)
def test_parameters_filled_in_by_the_model_are_arguments(annotation):
    assert not injected(annotation)


def test_a_default_value_that_a_framework_resolves_is_injected():
    assert injected(str, default=Depends())
    assert not injected(str, default="Depends")


def test_names_are_by_position_and_self_and_cls_are_not_arguments():
    def tool(self, ctx: Context, topic, *rest, limit=3, cls=None, **more):
        return self, ctx, topic, rest, limit, cls, more

    positional, injected = tool_parameters(tool)
    assert positional == ("self", "ctx", "topic")
    assert injected == {"self", "cls", "ctx"}
