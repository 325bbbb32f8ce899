"""What importing the protocol of a model brings along: adapters are imported when they are used."""

import json
import subprocess
import sys
import time

LOADED = """
import json, sys
before = set(sys.modules)
import {module}
foreign = {{name.partition(".")[0] for name in set(sys.modules) - before}} - sys.stdlib_module_names
print(json.dumps(sorted(foreign)))
"""


def loaded(module: str) -> list[str]:
    script = LOADED.format(module=module)
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def seconds(code: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
    return time.perf_counter() - begun


def test_the_protocol_needs_the_standard_library_alone():
    assert loaded("coreloop.models") == loaded("coreloop.models.model") == ["coreloop"]


def test_the_offline_model_loads_no_http_library():
    assert "httpx2" not in loaded("coreloop.models.choose")


def test_the_protocol_is_imported_in_a_few_times_the_start_of_python():
    codes = ("pass", "import coreloop.models.model")  # measured: 3.2 times; 30 ms are 4 times here
    best = [min(times) for times in zip(*(map(seconds, codes) for _ in range(7)), strict=True)]
    assert best[1] < 6 * best[0]
