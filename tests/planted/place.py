"""Everywhere in a record where a text or a number can stand."""

import json
import random
from collections.abc import Callable
from typing import Any, Final

from planted.secret import FLAGS, SENSITIVE_KEYS

Record = dict[str, Any]
Put = Callable[[random.Random, Record, str], None]


def _args(record: Record) -> dict[str, Any]:
    args: dict[str, Any] = record["tool_calls"][-1]["args"]
    return args


def _nested(rng: random.Random, value: Any) -> Any:
    for level in range(rng.randint(4, 14)):
        value = (
            [value]
            if rng.random() < 0.3
            else {rng.choice(("filter", "options", "항목", "and")): value, "n": level}
        )
    return value


def _argument(rng: random.Random, record: Record, text: str) -> None:
    _args(record)[rng.choice(("note", "query", "memo", "target", "설명"))] = text


def _deep(rng: random.Random, record: Record, text: str) -> None:
    _args(record)["where"] = _nested(rng, {"value": text})


def _argument_name(_: random.Random, record: Record, text: str) -> None:
    _args(record)[text] = True


def _deep_name(rng: random.Random, record: Record, text: str) -> None:
    _args(record)["by"] = _nested(rng, {text: 1})


def _in_list(rng: random.Random, record: Record, text: str) -> None:
    items = ["roe", "eps", 12.5]
    items.insert(rng.randint(0, 3), text)
    _args(record)["columns"] = items


def _selector(rng: random.Random, record: Record, text: str) -> None:
    _args(record)[rng.choice(("axis", "sub"))] = text


def _preview(_: random.Random, record: Record, text: str) -> None:
    _args(record)["body"] = {"truncated": True, "size": 2400, "preview": text}


def _json_text(rng: random.Random, record: Record, text: str) -> None:
    _args(record)["payload"] = json.dumps({"memo": text, "limit": 5}, ensure_ascii=rng.random() < 0.5)


def _call_error(rng: random.Random, record: Record, text: str) -> None:
    kind = rng.choice(("ValueError", "KeyError", "HTTPError 400"))
    record["tool_calls"][0] |= {"ok": False, "error": f"{kind}: {text}"}


def _trigger(_: random.Random, record: Record, text: str) -> None:
    _override(record, trigger=text)


def _override_key(_: random.Random, record: Record, text: str) -> None:
    _override(record, override_keys=["wacc", text])


def _override(record: Record, **changes: Any) -> None:
    sound = {"tool": "analysis", "override_keys": ["wacc"], "trigger": "wacc>0.25", "succeeded": True}
    record["override_calls"] = [sound | changes]


def _flag(_: random.Random, record: Record, text: str) -> None:
    record["tool_calls"][0]["extreme_flags"] = ["wacc>0.25", text]


def _used(_: random.Random, record: Record, text: str) -> None:
    record["tool_calls"][0]["overrides_used"] = [text]


def _tool_name(_: random.Random, record: Record, text: str) -> None:
    record["tool_calls"][0]["name"] = text


def _judged_by(_: random.Random, record: Record, text: str) -> None:
    record["judgment"] |= {"verdict": "C", "judged_by": text}


def _cause(_: random.Random, record: Record, text: str) -> None:
    record["judgment"] |= {"verdict": "V", "cause": text}


def _unknown_nested(rng: random.Random, record: Record, text: str) -> None:
    record["client"] = {"session": _nested(rng, {"said": text}), "beta": False}


def _field(name: str) -> Put:
    def put(_: random.Random, record: Record, text: str) -> None:
        record[name] = text

    return put


def _name_and_value(rng: random.Random, record: Record, text: str) -> None:
    name, value = rng.choice((("name", "value"), ("key", "value"), ("header", "val"), ("Name", "Value")))
    _args(record)["headers"] = [
        {name: "accept", value: "json"},
        {name: rng.choice(SENSITIVE_KEYS), value: text},
    ]


def _flag_and_value(rng: random.Random, record: Record, text: str) -> None:
    _args(record)["argv"] = ["dart", "fetch", rng.choice(FLAGS), text, "--limit", "5"]


def _pair(rng: random.Random, record: Record, text: str) -> None:
    _args(record)["params"] = [["page", "1"], [rng.choice(SENSITIVE_KEYS), text]]


def _sensitive_key(rng: random.Random, record: Record, text: str) -> None:
    _args(record)["config"] = _nested(rng, {rng.choice(SENSITIVE_KEYS): text})


TEXTS: Final[dict[str, Put]] = {
    "question": _field("question"),
    "argument": _argument,
    "deep argument": _deep,
    "argument name": _argument_name,
    "deep argument name": _deep_name,
    "list": _in_list,
    "selector": _selector,
    "preview": _preview,
    "JSON text": _json_text,
    "call error": _call_error,
    "override trigger": _trigger,
    "override key": _override_key,
    "overrides used": _used,
    "extreme flag": _flag,
    "tool name": _tool_name,
    "error": _field("error"),
    "violation": _field("violation"),
    "provider": _field("provider"),
    "model": _field("model"),
    "skill": _field("skill_used"),
    "stock code hint": _field("stockCode_hint"),
    "request id": _field("request_id"),
    "session": _field("session_id"),
    "judged by": _judged_by,
    "cause": _cause,
    "unknown field": _field("memo"),
    "unknown nested": _unknown_nested,
}
SECRETS: Final[dict[str, Put]] = {
    "name and value": _name_and_value,
    "flag and value": _flag_and_value,
    "pair": _pair,
    "sensitive key": _sensitive_key,
}
"""Where the neighbour says that a value is a secret."""

CODES: Final[dict[str, Put]] = {
    "hint": _field("stockCode_hint"),
    "argument": lambda _, record, code: _args(record).update(stockCode=code),
    "list": lambda _, record, code: _args(record).update(codes=[code]),
}
"""Where an agent writes a firm's stock code by itself."""

NUMBER_KEYS: Final = {
    "mobile": ("phone", "mobile", "휴대폰", "전화번호"),
    "landline": ("tel", "phone", "전화번호"),
    "resident number": ("rrn", "주민등록번호", "resident_no"),
    "resident number since 2020": ("rrn", "주민등록번호"),
    "foreigner number": ("외국인등록번호", "rrn"),
    "foreigner number since 2020": ("외국인등록번호",),
    "business number": ("brn", "사업자등록번호", "bizno"),
    "card": ("card", "card_number", "카드번호", "no", "value"),
    "bank account": ("account_number", "계좌번호"),
}
"""Kinds that programs write as JSON numbers, and the argument that then holds them."""


def put_number(rng: random.Random, record: Record, kind: str, number: int) -> None:
    """Write a number as one, an argument of its own."""
    _args(record)[rng.choice(NUMBER_KEYS[kind])] = number
