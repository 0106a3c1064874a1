"""Readers for the formats that people have. Whatever the bytes, they raise nothing but `UnreadableData`.

To add a format: write `read_x(source, ..., limits) -> StoredArray` in a module here, with a `rewrite` if
results are to be written in it (`write.py` needs nothing more); call it in `read.py`, and put its suffixes
into one of the sets there. Where a damaged file can crash its library, open it in a module of `sandbox/`,
through `decoder.Decoder`. Add examples of it to tests/datasets/test_formats.py and test_write_like.py, and
to tests/fuzz/seeds.py, from which damaged ones are made.
"""
