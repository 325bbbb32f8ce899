#!/bin/sh
# Installs the distribution's Postgres for the contract tests of stores, as root or with sudo. The newest version
# comes with `uv sync`; tests run on each that they find. Does nothing when one is there already.
set -eu

if ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    echo "Postgres of the distribution is installed"
    exit 0
fi
as_root=$([ "$(id -u)" -eq 0 ] || echo sudo)
$as_root apt-get update -qq
# no cluster of its own: tests make theirs
$as_root mkdir -p /etc/postgresql-common/createcluster.d
echo "create_main_cluster = false" | $as_root tee /etc/postgresql-common/createcluster.d/tests.conf >/dev/null
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends postgresql
