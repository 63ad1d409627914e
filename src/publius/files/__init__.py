"""Reading with limits and writing durably: every file that Publius opens or makes goes through here.

`StorageError` is raised for what the operating system refuses, `DataError` for what is beyond a limit or damaged.
Messages name the path as the user gave it, and never any content.
"""
