"""Reading with limits and writing durably: every file that Publius opens or makes goes through here.

Reading: gzip is unpacked as a stream, with a cap on how far it may expand. Writing: a temporary neighbor, flushed to
the disk, takes the final name in one step, so that a reader sees the whole or nothing, after a crash too.

`StorageError` is raised for what the operating system refuses, `DataError` for what is beyond a limit or
damaged. Messages name the path as the user gave it, unprintable characters escaped, and never any content.
"""

from publius.files.folders import (
    check_new_folder,
    make_parents,
    new_folder,
    own_folder,
    place_folder,
    private_folder,
    remove_leftovers,
)  # fmt: skip
from publius.files.paths import AnyPath, os_errors, shown, storage_error
from publius.files.reading import GZIP_FREE, largest_content, open_binary, read_bytes_limited
from publius.files.writing import private, sync, write_file

__all__ = [
    "GZIP_FREE", "AnyPath", "check_new_folder",
    "largest_content", "make_parents", "new_folder", "open_binary", "os_errors", "own_folder", "place_folder",
    "private", "private_folder", "read_bytes_limited", "remove_leftovers", "shown", "storage_error",
    "sync", "write_file",
]  # fmt: skip
