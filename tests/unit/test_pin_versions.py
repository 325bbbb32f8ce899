"""What uv installs is pinned in pyproject.toml, with versions only."""

import importlib.util
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("pin_versions", ROOT / "scripts" / "pin_versions.py")
assert _SPEC is not None
assert _SPEC.loader is not None
script = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(script)
REGISTRY = {"registry": "https://registry.example/simple"}


def test_a_package_with_several_versions_is_pinned_for_each_python():
    lock = {
        "package": [
            {
                "name": "numpy",
                "version": "2.5",
                "source": REGISTRY,
                "resolution-markers": [
                    "python_full_version >= '3.12' and sys_platform == 'win32'",
                    "python_full_version >= '3.12' and sys_platform != 'win32'",
                ],
            },
            {"name": "attrs", "version": "26.1", "source": REGISTRY},
            {"name": "ours", "version": "0", "source": {"editable": "."}},
        ]
    }
    assert script.pins(lock) == ["attrs==26.1", "numpy==2.5 ; (python_full_version >= '3.12')"]


def test_the_table_is_toml_and_is_replaced_as_a_whole():
    wanted = ["attrs==26.1", "numpy==2.5 ; (python_full_version >= '3.12')"]
    table = script.render(wanted)
    assert tomllib.loads(table)["tool"]["uv"]["constraint-dependencies"] == wanted
    assert script._PINS.sub("", f"[a]\n\n{table}[b]\n") == "[a]\n\n[b]\n"


def test_pins_of_the_project_have_no_address():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = project["tool"]["uv"]["constraint-dependencies"]
    assert len(pinned) > 100
    assert not any("://" in pin or "@" in pin for pin in pinned)
    assert all("==" in pin for pin in pinned)
