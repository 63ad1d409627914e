"""Torture: faults, kills, full disks, hostile files, fuzzing, canaries. Run by ``make torture``, and small by the tests."""
