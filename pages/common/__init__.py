"""Pieces that the dashboard's pages share."""
