"""Reading with limits and writing durably: every file that Publius opens or makes goes through here.

`StorageError` is raised for what the operating system refuses, `DataError` for what is beyond a limit or damaged.
Messages name the path as the user gave it, and never any content.
"""

from publius.errors import AnyPath, os_errors, shown, storage_error
from publius.files.reading import GZIP_FREE, largest_content, open_binary, read_bytes_limited
from publius.files.writing import (
    check_new_folder,
    make_parents,
    new_folder,
    own_folder,
    place_folder,
    private,
    private_folder,
    remove_leftovers,
    sync,
    write_file,
)

__all__ = [
    "GZIP_FREE", "AnyPath", "check_new_folder",
    "largest_content", "make_parents", "new_folder", "open_binary", "os_errors", "own_folder", "place_folder",
    "private", "private_folder", "read_bytes_limited", "remove_leftovers", "shown", "storage_error",
    "sync", "write_file",
]  # fmt: skip
