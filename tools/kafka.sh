#!/usr/bin/env bash
# Fetches the Kafka server that the tests start, by Maven, into build/kafka. Does nothing when it is there. Two at once:
# one fetches, the other waits; the folder appears whole or not at all.
set -euo pipefail
cd "$(dirname "$0")/.."
pom=tests/brokers/kafka/pom.xml
folder=build/kafka
is_there() { cmp -s "$pom" "$folder/pom.xml"; }

is_there && { echo "kafka: the server is there"; exit 0; }
mkdir -p build
exec 9>build/kafka.lock
flock 9
is_there && { echo "kafka: the server is there"; exit 0; }
part=$(mktemp -d build/kafka.XXXXXX)
trap 'rm -rf "$part"' EXIT
echo "kafka: fetching the server"
for try in 1 2 3; do
    mvn -q -B -f "$pom" dependency:copy-dependencies -DoutputDirectory="$PWD/$part/libs" -DincludeScope=runtime && break
    [ "$try" -lt 3 ] || { echo "kafka: Maven could not fetch it"; exit 1; }
    sleep $((try * 20))
done
cp "$pom" "$part/pom.xml"
chmod 755 "$part"
rm -rf "$folder"
mv -T "$part" "$folder"
trap - EXIT
echo "kafka: done"
