# SPDX-License-Identifier: MIT
"""A small backup module with three settings, like the one in the story at the top of the README."""
import os
import shutil
import time

SOURCE = os.environ.get("BACKUP_SOURCE", os.path.expanduser("~"))
STAGING = os.environ.get("BACKUP_STAGING", "/var/tmp/backup")
NAS = os.environ.get("BACKUP_NAS", "/mnt/nas/Backups")
KEEP = 3


def snapshot(day=None):
    """Copies SOURCE to STAGING, mirrors that to the NAS, removes the snapshots that are too old, and tells the new one's name."""
    name = "v2-" + (day or time.strftime("%Y-%m-%d"))
    shutil.copytree(SOURCE, os.path.join(STAGING, name), dirs_exist_ok=True)
    mirror(name)
    rotate()
    return name


def mirror(name):
    target = os.path.join(NAS, name)
    shutil.copytree(os.path.join(STAGING, name), target, dirs_exist_ok=True)
    latest = os.path.join(NAS, "latest")
    os.symlink(name, latest + ".new")
    os.replace(latest + ".new", latest)


def rotate():
    for old in sorted(n for n in os.listdir(NAS) if n.startswith("v2-"))[:-KEEP]:
        shutil.rmtree(os.path.join(NAS, old))
