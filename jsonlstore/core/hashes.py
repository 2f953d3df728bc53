"""Hashes without OpenSSL: `hashlib` loads it, which is milliseconds of a hook call and 3.5 MB of a waiting watcher.

For short texts the interpreter's own modules are as fast. Where megabytes are hashed, OpenSSL is faster: import
`hashlib` there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    from _blake2 import blake2b

    try:  # as in the standard library's `random`
        from _sha2 import sha256  # since Python 3.12
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["blake2b", "sha256"]
