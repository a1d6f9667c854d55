#!/usr/bin/env python3
"""Adds up the result files of ctest. A test that was skipped did not pass, and a suite that did not run is a failure.

    tally.py PRESET=FILE ...   each FILE written by ctest --output-junit"""

import re
import sys
import xml.etree.ElementTree as tree

# What must have run in each build; a name is matched at the start of the tests' names.
THREADS = ["Stores/", "Brokers/", "Relay", "Inboxes/", "http_test", "mqtt_test", "nats_test", "rabbitmq_test",
           "redis_test", "postgres_test", "postgres_inbox_test", "postgres_schedule_test", "table_test"]
SHIPPED = ["Simulation", "PlantedBugs", "cli", "example.", "example.08", "live.", "live.fragile_test",
           "live.parcels_test"]
ALL = THREADS + SHIPPED + ["Decide", "TurnTest", "SqliteUnit", "SociSqlite.", "app_postgres_test", "app_crash_test",
                           "kafka_test", "postgres_admin_test", "postgres_conformance_test"]
REQUIRED = {"release": SHIPPED + ["install."], "asan": ALL, "tsan": THREADS}


def read(file):
    for case in tree.parse(file).getroot().iter("testcase"):
        yield case.get("name"), case.get("status")


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
