#!/usr/bin/env bash
# Build what is released under a tag, after checking that the tag, the version and the CHANGELOG agree.
#
#   scripts/build_release.sh v0.4.0 dist
set -euo pipefail
refuse() { echo "build_release: $1" >&2; exit 1; }
[ $# = 2 ] || refuse "name the tag and the folder for the files: scripts/build_release.sh v0.4.0 dist"
tag=$1 out=$(realpath -m "$2")
cd "$(dirname "$0")/.."
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' src/coreloop/__init__.py)
[ "$tag" = "v$version" ] || refuse "the tag is $tag, the version in src/coreloop/__init__.py is $version"
grep -qFx "## $version" CHANGELOG.md || refuse "CHANGELOG.md has no heading '## $version'"
[ ! -e "$out" ] || [ -z "$(ls -A "$out")" ] || refuse "$out is not empty"
uv build --quiet --require-hashes --build-constraints src/coreloop/admin/init/templates/coreloop-dependencies.txt \
    --out-dir "$out"
rm -f "$out/.gitignore"
(cd "$out" && sha256sum -- *)
