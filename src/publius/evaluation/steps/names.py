"""Names for what is learned on the way: the same for the same texts, and telling nobody else of them."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import Final

from publius.files import os_errors, private, read_bytes_limited, temporary_name
from publius.noise.randomness import entropy
from publius.vectors.catalogue import store_root

_KEY: Final = "names.key"
_KEY_BYTES: Final = 32


def private_digest(content: bytes) -> str:
    """A digest in hexadecimal that only the owner of the store can compute: it is published in a reference's name.

    Its key is drawn at first use and kept beside the stores, for its owner alone. `StorageError` where it cannot be.
    """
    path = store_root().parent / _KEY
    with os_errors("keep the key of names in", path.parent):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        if not path.exists():
            drawn = temporary_name(path.parent)
            with open(drawn, "xb", opener=private) as stream:
                stream.write(entropy(_KEY_BYTES))
            try:
                os.link(drawn, path)  # whole or not at all; another process may be quicker
            except FileExistsError:
                pass
            finally:
                drawn.unlink()
    return hmac.new(read_bytes_limited(path, 2**10), content, hashlib.sha256).hexdigest()
