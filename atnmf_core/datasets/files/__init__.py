"""Readers for the formats that people have. Whatever the bytes, they raise nothing but `UnreadableData`."""
