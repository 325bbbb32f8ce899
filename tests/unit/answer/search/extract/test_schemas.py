"""Declared schemas: JSON Schema, OpenAPI and SQL."""

import json

import pytest

from coreloop.answer.search.extract.document import Document, Unreadable
from coreloop.answer.search.extract.schemas import extract_schema
from rows import each_row

JSON_SCHEMA = """{
  "type": "object",
  "properties": {
    "total": {"type": "integer", "description": "Sum in KRW."},
    "status": {"enum": ["open", "paid"]},
    "address": {"type": "object", "properties": {"city/zip": {"type": "string", "description": "도시"}}}
  }
}"""
OPENAPI = """
openapi: 3.1.0
paths:
  /orders/{id}:
    get:
      summary: Read an order.
      parameters:
        - {name: id, in: path, schema: {type: string}, description: Eight digits.}
components:
  schemas:
    Order:
      properties:
        total:
          $ref: '#/components/schemas/Money'
"""
SQL = """
-- the shop
CREATE TABLE IF NOT EXISTS "orders" (
    id bigint PRIMARY KEY, -- eight digits
    total numeric(10, 2) NOT NULL DEFAULT 0, -- sum in KRW
    note text DEFAULT 'it''s, free text',
    `key` text,
    PRIMARY KEY (id), CHECK (total > 0)
);
INSERT INTO orders VALUES (1, 'CREATE TABLE x (y int)');
CREATE TABLE shop.parcels (weight real);
"""


def entries(text: str) -> list[tuple[str, int, str]]:
    document = extract_schema(text)
    assert isinstance(document, Document)
    return [(entry.name, entry.line, entry.text) for entry in document.entries]


def test_json_schema_is_read():
    assert entries(JSON_SCHEMA) == [
        ("#total", 4, "total (integer): Sum in KRW."),
        ("#status", 5, "status"),
        ("#address", 6, "address (object)"),
        ("#address.city/zip", 6, "address city/zip (string): 도시"),
    ]


def test_openapi_is_read():
    assert entries(OPENAPI) == [
        ("#/orders/{id}.get.id", 4, "/orders/{id} get id: Eight digits."),
        ("#Order.total", 13, "Order total (#/components/schemas/Money)"),
    ]


def test_sql_is_read():
    assert entries(SQL) == [
        ("#orders.id", 4, "table orders column id (bigint): eight digits"),
        ("#orders.total", 5, "table orders column total (numeric): sum in KRW"),
        ("#orders.note", 6, "table orders column note (text)"),
        ("#orders.key", 7, "table orders column key (text)"),
        ("#parcels.weight", 11, "table parcels column weight (real)"),
    ]


def test_aliases_of_yaml_are_walked_once():
    levels = "\n".join(f"a{n}: &a{n} {{properties: {{x: *a{n - 1}, y: *a{n - 1}}}}}" for n in range(1, 30))
    document = extract_schema(f"a0: &a0 {{type: string}}\n{levels}")
    assert isinstance(document, Document)
    assert len(document.entries) < 100


@pytest.mark.slow
@each_row(
    "text",
    [
        json.dumps({"properties": {f"f{n}": {"type": "string"} for n in range(50_000)}}),
        "CREATE TABLE t (" + "a int, " * 50_000 + "b int);",
        "CREATE TABLE t (" + "(" * 200_000,
        "'" * 200_001,
    ],
    ids=["many fields", "many columns", "deep", "quotes"],
)
def test_hostile_files_are_bounded(text: str):
    document = extract_schema(text)
    assert isinstance(document, Unreadable) or len(document.entries) <= 20_000
