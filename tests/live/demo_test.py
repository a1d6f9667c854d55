"""The demo does what the README says."""

import json
import os
import signal
import subprocess
import tempfile
import unittest

from harness import BIN, children


class Demo(unittest.TestCase):
    def test_it_kills_its_relay_and_loses_nothing(self):
        done = subprocess.run(
            children.tied([BIN, "demo", "--seconds", "6", "--json"]),
            capture_output=True, text=True, timeout=600,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertGreater(report["committed"], 100)
        self.assertGreater(report["rolled_back"], 0)
        self.assertEqual(report["kills"], 1)
        self.assertEqual(report["lost"], 0)
        self.assertEqual(report["phantom"], 0)
        self.assertEqual(report["out_of_order"], 0)
        self.assertLessEqual(report["duplicated"], report["duplicated_allowed"])
        self.assertEqual(report["delivered"] + report["dead"], report["committed"])

    def test_keep_goes_on_until_interrupted(self):
        with tempfile.TemporaryDirectory(prefix="outrider-demo-") as home:
            folder = os.path.join(home, "a folder of 100%")
            demo = children.start(
                self, [BIN, "demo", "--keep", "--folder", os.path.basename(folder)], cwd=home,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )
            for line in demo.stdout:
                if "delivered" in line and " delivered 0 " not in line:
                    break
            demo.send_signal(signal.SIGINT)
            rest, _ = demo.communicate(timeout=60)
            self.assertEqual(demo.returncode, 0, rest)
            self.assertIn("Nothing lost", rest)
            self.assertTrue(os.path.exists(os.path.join(folder, "delivered.jsonl")))


if __name__ == "__main__":
    unittest.main()
