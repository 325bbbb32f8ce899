#!/bin/sh
# Fetches Prism and GitHub's official API description for the tests marked "prism", into tests/.prism/.
# Needs Node 18 or newer, npm and Python. Does nothing when they are there already. Then: pytest -m prism
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$here/../.prism
wanted=$(cat "$here/package.json" "$here/cut_spec.py" "$here/install.sh" | cksum)

if [ "$(cat "$target/stamp" 2>/dev/null || true)" = "$wanted" ]; then
    echo "Prism is installed"
    exit 0
fi

rm -rf "$target"
mkdir -p "$target"
cp "$here/package.json" "$target/"
(cd "$target" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts --loglevel=error)
"${PYTHON:-python3}" "$here/cut_spec.py" \
    "$target/node_modules/@octokit/openapi/generated/api.github.com.json" "$target/github.json"
rm -rf "$target/node_modules/@octokit" # 400 MB, of which the cut was all that is needed
echo "$wanted" >"$target/stamp"
