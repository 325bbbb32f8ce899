"""The collector lives inside other people's servers: what importing it brings along."""

import json
import subprocess
import sys

LOADED = """
import sys
before = set(sys.modules)
import {module}
import json
names = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(json.dumps(sorted(names - sys.stdlib_module_names)))
print(json.dumps(sorted(name for name in sys.modules if name.startswith("coreloop"))))
"""


def loaded(module):
    script = LOADED.format(module=module)
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    foreign, own = (json.loads(line) for line in done.stdout.splitlines())
    return set(foreign), set(own)


def test_the_collector_needs_only_the_standard_library_and_orjson():
    foreign, own = loaded("coreloop.observe")
    assert foreign == {"coreloop", "orjson"}
    assert own == {
        "coreloop",
        "coreloop.base",
        "coreloop.base.categories",
        "coreloop.base.record_lines",
        "coreloop.observe",
        "coreloop.observe.calls",
        "coreloop.observe.case_keys",
        "coreloop.observe.collector",
        "coreloop.observe.conversation",
        "coreloop.observe.decorator",
        "coreloop.observe.drops",
        "coreloop.observe.failed_results",
        "coreloop.observe.journal",
        "coreloop.observe.comparable_texts",
        "coreloop.observe.log_settings",
        "coreloop.observe.record_parts",
        "coreloop.observe.shown_states",
        "coreloop.observe.argument_sources",
        "coreloop.base.records",
    }


def test_the_package_itself_brings_nothing_else():
    foreign, own = loaded("coreloop")
    assert foreign <= {"coreloop", "orjson"}
    assert not own & {"coreloop.cli", "coreloop.learn.mine", "coreloop.base.project.settings"}


def test_records_imports_only_the_standard_library():
    assert loaded("coreloop.base.records") == (
        {"coreloop"},
        {"coreloop", "coreloop.base", "coreloop.base.records"},
    )


def test_encoding_imports_only_records_and_orjson():
    foreign, own = loaded("coreloop.base.record_lines")
    assert foreign == {"coreloop", "orjson"}
    assert own == {"coreloop", "coreloop.base", "coreloop.base.record_lines", "coreloop.base.records"}
