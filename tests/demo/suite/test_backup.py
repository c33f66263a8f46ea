# SPDX-License-Identifier: MIT
"""Green, and leaking: setUp replaces SOURCE and STAGING, and forgets NAS."""
import os
import tempfile
import unittest

import backup


class SnapshotTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        backup.SOURCE = os.path.join(folder.name, "home")
        backup.STAGING = os.path.join(folder.name, "staging")
        os.makedirs(os.path.join(backup.SOURCE, "photos"))
        with open(os.path.join(backup.SOURCE, "photos", "cat.jpg"), "wb") as f:
            f.write(b"\xff\xd8 not really a picture")
        with open(os.path.join(backup.SOURCE, "MANIFEST"), "w") as f:
            f.write("fake\n")

    def test_copies_everything(self):
        name = backup.snapshot("2031-01-01")
        self.assertTrue(os.path.exists(os.path.join(backup.STAGING, name, "photos", "cat.jpg")))

    def test_same_day_again_is_no_error(self):
        backup.snapshot("2031-01-02")
        backup.snapshot("2031-01-02")

    def test_name_carries_the_day(self):
        self.assertEqual(backup.snapshot("2031-01-03"), "v2-2031-01-03")


if __name__ == "__main__":
    unittest.main()
