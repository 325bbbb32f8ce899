"""coreloop.yaml: every documented key, and the line that a mistake stands on."""

import pytest

from coreloop.base.errors import SettingsError
from coreloop.base.project.settings import Settings
from coreloop.base.project.settings_file import load_settings

DOCUMENTED = """\
data_dir: data
categories:                      # keyword rules -> DOMAIN-topic-MARKET-sector
  - {label: FIN-profitability-KR, any: [수익성, 마진, margin, roe]}
tools:                           # a tool's docstring, and the arguments that select a sub-function
  analysis: {target: "src/dartlab/analysis/financial/__init__.py::analysis", selectors: [axis]}
axis_slugs: {배당: dividend}
gates: {min_chunk_len: 400}
replay: {url: "http://127.0.0.1:8400/api/ask"}
reach: {command: [python, -m, dartlab.ai.tools, --schema], caps: {openai: 1024}}
forge: {repo: owner/name, base: main, max_open: 3}
sanitize:
  names: companies.tsv
  detect: [{name: STAFF, pattern: 'EMP-[0-9]{6}', example: EMP-123456}]
  allow: [help@example.com]
  countries: [kr, us]
retention_days: 30
"""


@pytest.fixture
def load(tmp_path):
    def load(text, environ=None):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / "coreloop.yaml").write_bytes(data)
        return load_settings(tmp_path, environ=environ or {})

    return load


def test_every_documented_key_is_read(load):
    settings = load(DOCUMENTED)
    assert settings.data_dir == "data"
    assert settings.categories[0].any == ("수익성", "마진", "margin", "roe")
    assert settings.selectors() == {"analysis": ("axis",)}
    assert settings.tools["analysis"].target == "src/dartlab/analysis/financial/__init__.py::analysis"
    assert settings.axis_slugs == {"배당": "dividend"}
    assert settings.gates.min_chunk_len == 400
    assert settings.replay.url == "http://127.0.0.1:8400/api/ask"
    assert settings.reach.command == ("python", "-m", "dartlab.ai.tools", "--schema")
    assert settings.reach.caps == {"openai": 1024}
    assert Settings().reach.caps == {}
    assert (settings.forge.repo, settings.forge.base, settings.forge.max_open) == ("owner/name", "main", 3)
    assert settings.sanitize.names == "companies.tsv"
    assert settings.sanitize.detect[0].pattern == "EMP-[0-9]{6}"
    assert settings.sanitize.allow == ("help@example.com",)
    assert settings.sanitize.countries == ("kr", "us")
    assert settings.retention_days == 30


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "gates:\n", "tools: {}\n", "\ufeff"])
def test_absent_keys_have_their_defaults(load, text):
    assert load(text) == Settings()


@pytest.mark.parametrize(
    "encode",
    [
        pytest.param(lambda text: b"\xef\xbb\xbf" + text.encode(), id="byte order mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="CRLF"),
    ],
)
def test_files_of_windows_editors_are_read(load, encode):
    assert load(encode(DOCUMENTED)) == load(DOCUMENTED)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("data_dir: x\ngate: {}\n", 2, ["'gate'", "'gates'"]),
        ("zzz: 1\n", 1, ["'zzz'", "data_dir"]),
        ("\ngates: {min_chunk_len: three}\n", 2, ["gates.min_chunk_len", "'int"]),
        ("service:\n  max_queued: 9\n", 2, ["service.max_queued", "known: hosts, origins"]),
        ("- a\n", 1, ["the file", "'object'"]),
        ("\nreach:\n  framework: fast-mcp\n  tools: a:b\n", 3, ["'fast-mcp'", "fastmcp"]),
        ("reach:\n  framework: mcp\n  tools: a:b\n  command: [x]\n", 4, ["framework", "command", "both"]),
        ("reach:\n  framework: mcp\n", 2, ["needs tools"]),
        ('reach:\n  framework: mcp\n  tools: "a, a/b.py"\n', 3, ["module:attribute", "a/b.py"]),
        ("categories:\n  - label: 수익성\n    any: [x]\n", 2, ["수익성", "ASCII"]),
        ("limits: {usd_per_day: .nan}\n", 1, ["usd_per_day"]),
        ("outcome: {score: helpful > good}\n", 1, ["outcome.score", "'helpful >= 0.5'"]),
        ("data_dir: a\nforge: {}\ndata_dir: b\n", 3, ["data_dir", "twice"]),
        ("data_dir: x\ngates: {\n", 3, ["YAML"]),
        ("tools:\n  a: {target: gone.py}\n", 2, ["path.py::name"]),
        (
            "sanitize:\n  detect:\n    - {name: STAFF, pattern: 'EMP-[0-9]{6}', example: EMP-12}\n",
            3,
            ["sanitize", "STAFF", "does not find its example 'EMP-12'"],
        ),
        ("sanitize:\n  detect: [{name: staff, pattern: x, example: x}]\n", 2, ["capital letters", "'staff'"]),
        (
            "sanitize:\n  detect: [{name: STAFF, pattern: (, example: x}]\n",
            2,
            ["is not a regular expression"],
        ),
        ("sanitize:\n  detect: [{name: STAFF, pattern: 'a?', example: x}]\n", 2, ["matches an empty text"]),
        ("sanitize:\n  detect: [{name: STAFF, pattern: x}]\n", 2, ["'example'"]),
        ("sanitize: {allow: ['']}\n", 1, ["empty", "allow"]),
        ("sanitize: {names: 3}\n", 1, ["names", "'str | array | null'"]),
    ],
)
def test_an_error_is_one_line_with_file_line_and_key(load, tmp_path, text, line, says):
    with pytest.raises(SettingsError) as caught:
        load(text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'coreloop.yaml'}:{line}: ")
    assert len(message.splitlines()) == 1
    assert all(word in message for word in says), message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param("data_dir: 데이터\n".encode("cp949"), "UTF-8", id="cp949"),
        pytest.param("data_dir: x\n".encode("utf-16"), "UTF-8", id="UTF-16"),
        pytest.param(b"data_dir: \x00\n", "YAML", id="null character"),
        pytest.param(b"[" * 1200, "YAML", id="nested without end"),
    ],
)
def test_a_file_that_is_not_text_is_named(load, tmp_path, data, says):
    with pytest.raises(SettingsError, match=says) as caught:
        load(data)
    assert str(tmp_path / "coreloop.yaml") in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "coreloop.yaml").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path, environ={})


def test_the_environment_overrides_the_data_folder_and_the_model(load):
    environ = {"CORELOOP_DATA_DIR": "/srv/audit: #1", "CORELOOP_MODEL": "openai:gpt-5", "UNRELATED": "x"}
    settings = load(DOCUMENTED, environ)
    assert (settings.data_dir, settings.model) == ("/srv/audit: #1", "openai:gpt-5")


def test_an_empty_variable_counts_as_unset(load):
    assert load("data_dir: x\n", {"CORELOOP_DATA_DIR": ""}) == Settings(data_dir="x")


def test_a_number_too_large_for_its_use_is_refused(load):
    with pytest.raises(SettingsError, match=r"coreloop.yaml:1: .*at most"):
        load("retention_days: 3000000\n")
