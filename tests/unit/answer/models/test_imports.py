"""What importing the protocol of a model brings along: adapters are imported when they are used."""

import json
import subprocess
import sys

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


def n_modules(code: str) -> int:
    script = f"import sys; {code}; print(len(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_the_protocol_needs_the_standard_library_alone():
    assert loaded("coreloop.answer.models") == loaded("coreloop.answer.models.model") == ["coreloop"]


def test_the_offline_model_loads_no_http_library():
    assert "httpx2" not in loaded("coreloop.answer.models.choose_model")


def test_the_protocol_loads_few_modules():
    loaded_by_python = n_modules("pass")
    assert (
        n_modules("import coreloop.answer.models.model") - loaded_by_python < 70
    )  # 45; an HTTP library has 200


def test_reading_runs_loads_no_rules_of_language():
    kinds = "coreloop.answer.agent.kind, coreloop.answer.repair.store, coreloop.answer.research.kind"
    script = f"import json, sys, {kinds}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    rules = {"contradictions", "passages", "quantities", "statement", "support", "ranking", "sentences"}
    names = {name.rpartition(".")[2] for name in json.loads(done.stdout) if name.startswith("coreloop.")}
    assert names & rules == set()
