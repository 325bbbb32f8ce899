#!/bin/sh
# Fetches GitHub's example events for the tests of the guard, into tests/.webhooks/.
# Needs npm. Does nothing when they are there already. Then: pytest tests/unit/guard tests/unit/test_workflow_steps.py
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$here/../.webhooks
wanted=$(cat "$here/package.json" "$here/install.sh" | cksum)

if [ "$(cat "$target/stamp" 2>/dev/null || true)" = "$wanted" ]; then
    echo "GitHub's example events are installed"
    exit 0
fi

rm -rf "$target"
mkdir -p "$target"
cp "$here/package.json" "$target/"
(cd "$target" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error)
echo "$wanted" >"$target/stamp"
