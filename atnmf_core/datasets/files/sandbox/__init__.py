"""What runs in the decoding process: file formats whose libraries a damaged file can crash.

The parent's side is `files.decoder`. This package is started as `python -m sandbox FORMAT`, under its own
name, and imports nothing of the program: the libraries and the file are all that it has.

FORMAT is a module here. Its `open_file(data)` returns an object with

    description              what is in the file, to be sent as JSON
    read(name)               one of the described arrays
    replace(name, values)    the bytes of the same file with other values in that array
"""

import math

MAX_SENT_ALONG = 20_000


def is_sent_along(shape: tuple[int, ...]) -> bool:
    """Whether an array is sent with the description: for sizes and wavelengths that saves a request each."""
    return sum(size > 1 for size in shape) <= 1 and 0 < math.prod(shape) <= MAX_SENT_ALONG
