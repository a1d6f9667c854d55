# The front door. Every target only calls the real tools; see CMakePresets.json for the flags.

SEEDS ?= 200000
JOBS ?= $(shell nproc)
# Tests wait more than they work.
TESTS_AT_ONCE ?= $(shell expr $(JOBS) + 1)

# Where the tests' servers put their files.
run-shipped run-asan run-tsan test-release test-versions: export TMPDIR := $(shell tools/scratch.sh)

# Suites with threads, and servers where they need them: what the thread sanitizer is built for.
BROKER_TESTS := http_test mqtt_test redis_test nats_test rabbitmq_test
TSAN_TESTS := conformance_test relay_test inbox_test table_test $(BROKER_TESTS) \
	postgres_test postgres_schedule_test postgres_inbox_test

# What users get, and the tests that run it.
SHIPPED := src/all examples/all tests/live/all tests/simulation/all

# Debian's own interpreter, since it has Debian's psycopg2.
LIVE := OUTRIDER_BIN=$(CURDIR)/build/outrider /usr/bin/python3

.PHONY: help deps kafka postgres18 build demo
.PHONY: test test-asan test-tsan test-shipped test-release test-versions simulate
.PHONY: build-shipped build-asan build-tsan run-shipped run-asan run-tsan
.PHONY: chaos chaos-sqlite chaos-postgres chaos-table chaos-brokers chaos-app
.PHONY: bench bench-table lint format coverage clean

help:
	@echo "make demo      build, and watch messages go from an application's transaction to their destination"
	@echo "make test      build and run every suite, with sanitizers too"
	@echo "make build     the release binary, build/outrider"
	@echo "make deps      install the Debian packages that are needed, servers for the tests included"
	@echo "make lint      formatter, house rules, clang-tidy      make format    format everything"
	@echo "make simulate  SEEDS=200000 simulated runs             make chaos     long kill loops"
	@echo "make bench     speed, as ratios of one run             make coverage  lines covered by the tests"
	@echo "make test-versions   the PostgreSQL suites on 13, 14, 16, 17 and 18"

deps:
	@tools/deps.sh

# Servers that the tests start and Debian does not have.
kafka:
	@tools/kafka.sh

postgres18:
	@tools/postgres.sh 18

build:
	@tools/deps.sh build
	@cmake --preset release
	@cmake --build --preset release --target outrider -j $(JOBS)
	@ln -sfn release/outrider build/outrider

demo: build
	@build/outrider demo

# Tests wait more than they work: the next build goes on beside them, with what they leave of the machine.
test: deps
	@$(MAKE) -j 3 kafka postgres18 build-shipped
	@$(MAKE) -j 2 run-shipped build-asan
	@$(MAKE) -j 2 run-asan build-tsan
	@$(MAKE) run-tsan
	@tools/tally.py release=build/release/tests.xml asan=build/asan/tests.xml tsan=build/tsan/tests.xml

# One of its parts.
test-shipped test-asan test-tsan: test-%: build-%
	@$(MAKE) run-$*

# The binary and the libraries as they ship, with the simulation and the kills: more of them than under sanitizers, and
# fewer than in `make simulate` and `make chaos`.
build-shipped:
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target $(SHIPPED)
	@ln -sfn release/outrider build/outrider

run-shipped:
	ctest --preset release -j $(TESTS_AT_ONCE) -L 'live|example|simulation' --output-junit tests.xml

# Every suite. Fewer seeds and kills: sanitizers make everything slower, and look for other faults.
build-asan: postgres18
	cmake --preset asan
	nice -n 19 cmake --build --preset asan -j $(JOBS)

run-asan:
	SANITIZED=1 PAYLOADS=1000 STORM_SECONDS=5 SEEDS=200 MODEL_SEEDS=12 KILLS=20 CRASHES=1 \
		ctest --preset asan -j $(TESTS_AT_ONCE) --output-junit tests.xml

build-tsan:
	cmake --preset tsan
	nice -n 19 cmake --build --preset tsan -j $(JOBS) --target $(TSAN_TESTS)

# Mostly brokers that are waited for, and nothing is built beside it.
run-tsan:
	SANITIZED=1 PAYLOADS=1000 STORM_SECONDS=5 ctest --preset tsan -j $(shell expr $(TESTS_AT_ONCE) + 2) --output-junit tests.xml

# Every suite without sanitizers: for quick work, not a part of `make test`.
test-release: kafka postgres18
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	@ln -sfn release/outrider build/outrider
	ctest --preset release -j $(TESTS_AT_ONCE)

# The PostgreSQL suites on every version that users may have; Debian's own is a part of `make test`. The packages have
# no pg_dump, so nothing is restored there.
POSTGRES_VERSIONS := 13 14 16 17 18
test-versions: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target postgres_test postgres_schedule_test \
		postgres_conformance_test postgres_admin_test
	for version in $(POSTGRES_VERSIONS); do \
		tools/postgres.sh $$version && for suite in test schedule_test conformance_test admin_test; do \
			echo "== PostgreSQL $$version, postgres_$$suite"; \
			OUTRIDER_PG_BIN=$(CURDIR)/build/postgres-$$version/bin \
				build/release/tests/postgres/postgres_$$suite --gtest_brief=1 --gtest_filter=-PostgresAdopt.* || exit 1; \
		done || exit 1; \
	done

simulate:
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target simulation_test
	SEEDS=$(SEEDS) build/release/tests/simulation/simulation_test --gtest_filter='Simulation.*'

# Everything killed, cut and emptied for longer than `make test` has time for. Each part runs by itself, too.
chaos: chaos-sqlite chaos-postgres chaos-table chaos-brokers chaos-app

chaos-sqlite: deps build
	KILLS=1000 $(LIVE) tests/live/sqlite_kill_test.py -v

chaos-postgres: deps build
	KILLS=200 CRASHES=20 $(LIVE) tests/live/postgres_chaos_test.py -v
	TURN_SECONDS=10 LENGTH_SECONDS=60 EMPTIED=4 STRICT=1 $(LIVE) tests/live/postgres_turn_test.py -v

chaos-table: deps build
	TABLE_KILLS=200 $(LIVE) tests/live/table_kill_test.py -v

# Every broker killed 20 times under load, and RabbitMQ without memory for 10 s.
chaos-brokers: deps build kafka
	cmake --build --preset release -j $(JOBS) --target kafka_test $(BROKER_TESTS)
	for test in kafka_test $(BROKER_TESTS); do \
		BROKER_KILLS=20 ALARM_SECONDS=10 build/release/tests/brokers/$$test \
			--gtest_filter='*GateSuite*:*Relay.*:*.LosesNothing*' || exit 1; \
	done

# Applications: the parcel tracker's four processes, and writers killed in their commits.
chaos-app: deps build
	cmake --build --preset release -j $(JOBS) --target parcels_api parcels_worker app_crash_test
	PARCEL_KILLS=100 ctest --preset release -R live.parcels_test -V
	KILLS=400 build/release/tests/app/app_crash_test

bench: deps build kafka bench-table
	cmake --build --preset release -j $(JOBS) --target postgres_latency brokers_bench
	python3 bench/sqlite_bench.py build/outrider
	python3 bench/postgres_bench.py build/release
	build/release/bench/brokers_bench build/outrider

bench-table: deps build
	cmake --build --preset release -j $(JOBS) --target row_loop
	python3 bench/table_bench.py build/outrider build/release/tests/table/row_loop

lint:
	@tools/deps.sh lint
	tools/house.py
	clang-format-14 --dry-run --Werror $$(git ls-files '*.h' '*.cc')
	cmake --preset lint
	cmake --build --preset lint -j $(JOBS) --target outrider outrider_testing
	git ls-files 'src/*.cc' | xargs -P $(JOBS) -n 4 clang-tidy-14 --quiet -p build/lint

format:
	@tools/deps.sh lint
	clang-format-14 -i $$(git ls-files '*.h' '*.cc')

coverage:
	@tools/deps.sh coverage
	cmake --preset coverage
	cmake --build --preset coverage -j $(JOBS)
	ctest --preset coverage -j $(JOBS)
	gcovr -r . --filter src/core --filter src/relay build/coverage

clean:
	rm -rf build
