"""What runs in the decoding process: file formats whose libraries a damaged file can crash.

The parent's side is `readers.decoder`. This package is started as `python -m decoding FORMAT`, under its own
name, and imports nothing of the program: the libraries and the file are all that it has.

FORMAT is a module here. Its `open_file(data)` returns an object with

    description              what is in the file, to be sent as JSON
    read(name)               one of the described arrays
    replace(name, values)    the bytes of the same file with other values in that array
"""
