"""Installs what was built, and builds applications against it as users do: find_package, pkg-config, add_subdirectory.
Each must run, and must need its database's client library and nothing else of ours.

    consumers_test.py SOURCE BUILD COMPILER"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, COMPILER = (pathlib.Path(word) for word in sys.argv[1:4])
HERE = SOURCE / "tests" / "install"

# Every program in C++ needs these.
RUNTIME = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
CASES = {
    "sqlite": ("sqlite_app", "libsqlite3.so.0", "enqueued"),
    "postgres": ("postgres_app", "libpq.so.5", "the connection is lost"),
}
LISTS = """cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
{find}
add_executable({app} {source})
target_link_libraries({app} PRIVATE outrider::{component})
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1400, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} exited {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Consumers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="outrider-install-")
        cls.prefix = pathlib.Path(cls.folder.name, "prefix")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def place(self, name):
        place = pathlib.Path(self.folder.name, name)
        place.mkdir()
        return place

    def check(self, program, component):
        """Runs it, and looks at what the linker wrote into it."""
        _, client, printed = CASES[component]
        self.assertEqual(run(program, cwd=program.parent).strip(), printed)
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program)))
        self.assertIn(client, needed)
        self.assertEqual(needed - RUNTIME - {client}, set())

    def build(self, place, app, component, find, *options):
        (place / "CMakeLists.txt").write_text(
            LISTS.format(find=find, app=app, source=HERE / f"{app}.cc", component=component)
        )
        run("cmake", "-G", "Ninja", "-S", place, "-B", place / "build", f"-DCMAKE_CXX_COMPILER={COMPILER}",
            *options)
        run("cmake", "--build", place / "build", "-j", "2", "--target", app)
        return place / "build" / app

    def configure(self, place, component, find, *options):
        self.check(self.build(place, CASES[component][0], component, find, *options), component)

    def test_find_package_with_a_component(self):
        for component in CASES:
            with self.subTest(component):
                self.configure(
                    self.place(f"component-{component}"), component,
                    f"find_package(outrider 0.1 REQUIRED COMPONENTS {component})", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                )

    def test_a_table_of_the_application(self):
        program = self.build(
            self.place("table"), "table_app", "table_store outrider::brokers",
            "find_package(outrider REQUIRED COMPONENTS table_store brokers)", f"-DCMAKE_PREFIX_PATH={self.prefix}",
        )
        self.assertEqual(run(program).strip(), "unknown")

    def test_find_package_without_components(self):
        self.configure(
            self.place("plain"), "sqlite", "find_package(outrider REQUIRED)\n"
            "foreach(name postgres relay sqlite_store postgres_store table_store brokers testing)\n"
            "  if(NOT TARGET outrider::${name})\n    message(FATAL_ERROR ${name})\n  endif()\nendforeach()",
            f"-DCMAKE_PREFIX_PATH={self.prefix}",
        )

    def test_find_package_says_what_is_missing(self):
        place = self.place("missing")
        with self.assertRaisesRegex(AssertionError, "nonsense"):
            self.configure(
                place, "sqlite", "find_package(outrider REQUIRED COMPONENTS nonsense)",
                f"-DCMAKE_PREFIX_PATH={self.prefix}",
            )

    def test_pkg_config(self):
        found = next(self.prefix.rglob("outrider-sqlite.pc")).parent
        environment = dict(os.environ, PKG_CONFIG_PATH=str(found))
        for component, (app, _, _) in CASES.items():
            with self.subTest(component):
                place = self.place(f"pkg-{component}")
                flags = run("pkg-config", "--cflags", "--libs", f"outrider-{component}", env=environment).split()
                run(COMPILER, "-std=c++20", HERE / f"{app}.cc", *flags, "-o", place / app)
                self.check(place / app, component)

    def test_add_subdirectory(self):
        self.configure(
            self.place("subdirectory"), "sqlite", f"add_subdirectory({SOURCE} outrider EXCLUDE_FROM_ALL)",
            "-DCMAKE_UNITY_BUILD=ON",  # quicker
        )

    def test_the_program_of_the_readme(self):
        place = self.place("readme")
        readme = (SOURCE / "README.md").read_text()
        (place / "shop.cc").write_text(re.search(r"```cpp\n(.*?)```", readme, re.S).group(1))
        (place / "CMakeLists.txt").write_text(re.search(r"```cmake\n(.*?)```", readme, re.S).group(1))
        run("cmake", "-G", "Ninja", "-S", place, "-B", place / "build", f"-DCMAKE_CXX_COMPILER={COMPILER}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", place / "build")
        with subprocess.Popen(
            [place / "build" / "shop"], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as shop:
            self.assertEqual(shop.stdout.readline(), "mail to ada\n")
            shop.communicate("\n", timeout=60)
            self.assertEqual(shop.returncode, 0)

    def compile_sample(self, page, word, world):
        """The sample with that word in it, as the body of a function in such a world."""
        samples = re.findall(r"```cpp\n(.*?)```", (SOURCE / page).read_text(), re.S)
        (sample,) = [text for text in samples if word in text]
        lines = sample.splitlines()
        includes = "\n".join(line for line in lines if line.startswith("#include"))
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        place = self.place(word)
        (place / "sample.cc").write_text(f"{includes}\n{world}\nvoid sample() {{\n{body}\n}}\n")
        run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", self.prefix / "include",
            "-c", place / "sample.cc", "-o", place / "sample.o")

    def test_samples_compile(self):
        self.compile_sample(
            "docs/application.md", "CommitOutcome", "#include <outrider/postgres_unit.h>\n"
            "extern pg_conn* connection; extern const outrider::CommitUnknown& unknown;\n"
            "void run_it_again(); void ask_again(); void call_a_human();",
        )
        self.compile_sample(
            "README.md", "sqlite_inbox", "extern sqlite3* db; extern int order;\n"
            "std::string header(const char*); void reject(); void run(const char*); void charge(sqlite3*, int);",
        )

    def test_the_binary_is_installed(self):
        self.assertIn("0.1", run(self.prefix / "bin" / "outrider", "version"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
