#!/usr/bin/env bash
# Installs the Debian packages that building and testing need (`build`: only building). Says what it does; does nothing
# when all are there.
set -euo pipefail

packages=(
    build-essential cmake ninja-build ccache mold pkg-config git python3
    libsqlite3-dev libpq-dev libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev
    libhiredis-dev libnats-dev librabbitmq-dev librdkafka-dev libmosquitto-dev libcurl4-openssl-dev libssl-dev
    libpqxx-dev libsqlitecpp-dev libsoci-dev libboost-dev libcpp-httplib-dev
    libgtest-dev libgmock-dev librapidcheck-dev
)
# Servers that the tests start for themselves, and what speaks to them.
servers=(
    postgresql-15 redis-server nats-server rabbitmq-server mosquitto mosquitto-clients nghttp2-server pgbouncer openssl
    python3-psycopg2
    maven openjdk-17-jre-headless kcat
)
case "${1:-}" in
    build) ;;
    lint) packages+=(clang-14 clang-tidy-14 clang-format-14) ;;
    coverage) packages+=("${servers[@]}" gcovr) ;;
    *) packages+=("${servers[@]}") ;;
esac

missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "deps: everything is installed"
    exit 0
fi
echo "deps: installing ${missing[*]}"
become=()
[ "$(id -u)" -eq 0 ] || become=(sudo)
patient=(-qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600)
"${become[@]}" apt-get update "${patient[@]}"
DEBIAN_FRONTEND=noninteractive "${become[@]}" apt-get install -y "${patient[@]}" --no-install-recommends "${missing[@]}" \
    >/dev/null
echo "deps: done"
