"""What runs in the decoding process: file formats whose libraries a damaged file can crash.

The parent's side is `readers.decoder`. This package is started as `python -m decoding FORMAT`, under its own
name, and imports nothing of the program: the libraries and the file are all that it has.

FORMAT is a module here. Its `open_file(data)` returns an object with a `description`, to be sent as JSON, and
a method `read(name)` that returns one of the described arrays.
"""
