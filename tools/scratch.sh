#!/usr/bin/env bash
# Where the servers of the tests put their files: in memory where there is plenty of it, since they make and remove
# hundreds of databases; else where everything temporary goes.
set -euo pipefail

memory=/dev/shm
needed=$((6 * 1024 * 1024)) # KiB

free_memory=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
free_there=$(df --output=avail -k "$memory" 2>/dev/null | tail -1)
if [ -w "$memory" ] && [ "${free_there:-0}" -ge "$needed" ] && [ "${free_memory:-0}" -ge "$needed" ]; then
    echo "$memory"
else
    echo "${TMPDIR:-/tmp}"
fi
