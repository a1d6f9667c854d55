#!/usr/bin/env python3
"""Adds up the result files of ctest. A test that was skipped did not pass, and a suite that did not run is a failure.

    tally.py PRESET=FILE ...   each FILE written by ctest --output-junit"""

import re
import sys
import xml.etree.ElementTree as tree

# What must have run in each build; a name is matched at the start of the tests' names.
REQUIRED = {
    "release": ["app_postgres_test", "app_crash_test", "Sqlite/UnitSuite", "SociSqlite/", "install.", "example.",
                "Stores/", "Brokers/", "Decide", "TurnTest", "Relay", "Simulation", "PlantedBugs", "postgres_test",
                "postgres_conformance_test", "http_test", "redis_test", "nats_test", "rabbitmq_test", "kafka_test",
                "live.", "cli"],
    "asan": ["app_postgres_test", "app_crash_test", "Sqlite/UnitSuite", "SociSqlite/", "example.",
             "Stores/", "Brokers/", "Decide", "TurnTest", "Relay", "Simulation", "postgres_test",
             "postgres_conformance_test", "http_test", "redis_test", "nats_test", "rabbitmq_test", "kafka_test",
             "live.", "cli"],
    "tsan": ["Stores/", "Brokers/", "Relay", "postgres_test", "postgres_conformance_test", "http_test", "redis_test",
             "nats_test", "rabbitmq_test"],
}

for suites in REQUIRED.values():
    suites.append("mqtt_test")
    suites.append("postgres_schedule_test")
    suites += ["Inboxes/", "postgres_inbox_test"]
for preset in ("release", "asan"):
    REQUIRED[preset] += ["live.fragile_test", "live.parcels_test", "example.08"]
for suites in REQUIRED.values():
    suites.append("postgres_admin_test")


def read(file):
    for case in tree.parse(file).getroot().iter("testcase"):
        yield case.get("name"), case.get("status")


for suites in REQUIRED.values():
    suites.append("table_test")


def main(arguments):
    counts = {"run": 0, "fail": 0, "other": 0}
    problems = []
    for argument in arguments:
        preset, file = argument.split("=", 1)
        cases = list(read(file))
        for name, status in cases:
            counts[status if status in counts else "other"] += 1
            if status != "run":
                problems.append(f"{preset}: {name}: {status}")
        for prefix in REQUIRED.get(preset, []):
            if not any(re.match(re.escape(prefix), name) for name, _ in cases):
                problems.append(f"{preset}: no test of {prefix}* ran")
        print(f"{preset}: {len(cases)} tests")
    for problem in problems:
        print(problem)
    print(f"{counts['run']} passed, {counts['fail']} failed, {counts['other']} skipped")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
