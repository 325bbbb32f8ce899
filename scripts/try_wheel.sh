#!/usr/bin/env bash
# Build the wheel into a folder, install it there without and with the extra cli, and run both.
set -euo pipefail
folder=$(cd "$1" && pwd)
uv build --quiet --wheel --out-dir "$folder/dist"
wheel=$(echo "$folder"/dist/dartlab_coreloop-*.whl)
cd "$folder"

uv venv --quiet server
uv pip install --quiet --python server/bin/python "$wheel"
installed=$(uv pip list --quiet --python server/bin/python --format freeze | sed 's/[= ].*//' | sort | tr '\n' ' ')
[ "$installed" = "dartlab-coreloop orjson " ] || { echo "a server would install $installed"; exit 1; }
mkdir recorded && (cd recorded && ../server/bin/python - <<'PYTHON'
from coreloop import AuditCollector, dropped, observed_tool

@observed_tool
def add(a, b):
    return a + b

with AuditCollector(question="What is 2 + 3?") as audit:
    answer = str(add(2, 3))
    audit.flush(chunk_len=len(answer))
assert not dropped(), dropped()
PYTHON
)
grep -q '"add"' recorded/data/audit/ai-ask/*.jsonl
server/bin/dartlab-coreloop pattern 2>errors && exit 1
grep -qF "pip install '$wheel[cli]'" errors
echo "server: $installed, $(du -sm server/lib | cut -f1) MB"

uv venv --quiet maintainer
uv pip install --quiet --python maintainer/bin/python "$wheel[cli]"
for name in coreloop dartlab-coreloop; do "maintainer/bin/$name" --version; done
maintainer/bin/python - <<'PYTHON' > commands
from coreloop.cli.main import every_command
print("\n".join(" ".join(path) for path, _ in every_command()))
PYTHON
while read -r path; do
    # shellcheck disable=SC2086 - a path is a command and its subcommand
    maintainer/bin/dartlab-coreloop $path --help >/dev/null
done < commands
echo "help of $(wc -l < commands) commands"
(cd recorded && ../maintainer/bin/dartlab-coreloop pattern --since 30d)
maintainer/bin/dartlab-coreloop demo --out wheel-demo | tail -n 5
git init --quiet project && (cd project && ../maintainer/bin/dartlab-coreloop init)
