"""Renaming and deleting the sweeps of a store."""

from __future__ import annotations

from ..problem import InputError
from .queue import sweep_id
from .store import Store
from .uploads import drop_if_unused

__all__ = ["LONGEST_NAME", "delete_sweep", "rename_sweep"]

LONGEST_NAME = 80


def rename_sweep(store: Store, name: str, new: str) -> str:
    """Give a sweep another name; the name as it is kept, without spaces around it.

    Raises
    ------
    InputError : the name is empty, too long or taken, or a process knows the sweep by its old one.
    """
    new = " ".join(new.split())
    if not new or len(new) > LONGEST_NAME:
        raise InputError(f"a name has 1 to {LONGEST_NAME} characters, this one has {len(new)}.")
    if new == name:
        return new
    _refuse_if_at_work(store, name, "renamed")
    with store.transaction() as connection:
        if connection.execute("SELECT 1 FROM sweeps WHERE name = ?", (new,)).fetchone():
            raise InputError(f"there is a sweep {new!r} already; choose another name.")
        connection.execute("UPDATE sweeps SET name = ? WHERE id = ?", (new, sweep_id(connection, name)))
    return new


def delete_sweep(store: Store, name: str) -> None:
    """Forget a sweep, its points and its uploaded data, except what another sweep has too.

    Raises
    ------
    InputError : a process works on it.
    """
    _refuse_if_at_work(store, name, "deleted")
    source = store.sweep(name).grid.dataset
    with store.transaction() as connection:
        sweep = sweep_id(connection, name)
        own = "SELECT key FROM sweep_points WHERE sweep = ?"
        others = "SELECT key FROM sweep_points WHERE sweep <> ?"
        connection.execute(
            f"DELETE FROM points WHERE key IN ({own}) AND key NOT IN ({others})", (sweep, sweep)
        )
        runs = "SELECT id FROM runs WHERE sweep = ?"
        connection.execute(f"UPDATE points SET run = NULL WHERE run IN ({runs})", (sweep,))
        for table in ("sweep_points", "queue", "runs"):
            connection.execute(f"DELETE FROM {table} WHERE sweep = ?", (sweep,))
        connection.execute("DELETE FROM sweeps WHERE id = ?", (sweep,))
    drop_if_unused(store, source)


def _refuse_if_at_work(store: Store, name: str, what: str) -> None:
    if store.sweep(name).status in ("running", "queued"):
        raise InputError(f"{name!r} is running or waits for its turn; stop it before it is {what}.")
