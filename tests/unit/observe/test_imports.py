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
    foreign, _ = loaded("coreloop.observe")
    assert foreign == {"coreloop", "orjson"}


def test_the_package_itself_brings_nothing_else():
    foreign, own = loaded("coreloop")
    assert foreign <= {"coreloop", "orjson"}
    assert not own & {"coreloop.cli", "coreloop.learn.mine", "coreloop.base.project.settings"}
