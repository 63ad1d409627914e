"""The fixtures of `made_collection`."""

from made_collection import file, rows, subjects, topics  # noqa: F401
