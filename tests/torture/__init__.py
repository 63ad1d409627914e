"""Faults, kills, full disks, hostile files, fuzzing, canaries: by ``make torture``, and small by the tests."""
