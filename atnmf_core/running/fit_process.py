"""Fits in a process of their own: they hold up no thread of the one that asked, tell how far they are, and
can be given up at any moment.

Parent and child (``python -m atnmf_core.running.fit_process``) exchange messages over the child's standard
input and output: the length in eight bytes, then an NPZ archive, in which one JSON text is all that is not
an array. The child sends one byte before all else, when it is ready.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from ..factorization import factorize
from ..problem import InputError
from ..result import Fit, Progress
from .film import Film, Frame

__all__ = ["Worker"]

REPORT_SECONDS = 0.3
READY = b"\n"
Arrays = dict[str, npt.NDArray[Any]]
Watcher = Callable[[Frame, float, float], None]
"""Called with the latest frame, the share of the work done, and the seconds gone."""


class Worker:
    """A process that fits, one after another. One thread may ask at a time; any may give up."""

    def __init__(self) -> None:
        places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, places)), "OPENBLAS_NUM_THREADS": "1"},
        )
        assert self._child.stdout is not None
        assert self._child.stdin is not None
        self._source, self._sink = self._child.stdout, self._child.stdin
        self._greeting = threading.Thread(target=self._source.read, args=(len(READY),), daemon=True)
        self._greeting.start()

    @property
    def is_ready(self) -> bool:
        """Whether a fit would begin at once."""
        return not self._greeting.is_alive() and self.is_alive

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def fit(
        self, V: npt.NDArray[np.floating], observed: npt.NDArray[np.bool_], watch: Watcher, **parameters: Any
    ) -> tuple[Fit, tuple[Frame, ...]]:
        """`factorize(V, observed, **parameters)` there, and its film. The parameters must be such as JSON can
        hold.

        Raises
        ------
        InputError : what `factorize` refused.
        RuntimeError : the process was given up, or has ended without an answer.
        """
        self._greeting.join()
        try:
            _send(self._sink, parameters, V=V, observed=observed)
            while True:
                about, arrays = _receive(self._source)
                if about["kind"] == "progress":
                    watch(_frame(about, arrays["W"], arrays["H"]), about["share"], about["seconds"])
                elif about["kind"] == "refused":
                    raise InputError(about["message"])
                else:
                    return _fit(about, arrays, V, observed), _frames(about, arrays)
        except (EOFError, BrokenPipeError):
            code = self._child.wait()
            how = (
                f"was killed (signal {-code}), perhaps for lack of memory" if code < 0 else "ended by itself"
            )
            raise RuntimeError(f"the process of this fit {how} (exit code {code}).") from None

    def give_up(self) -> None:
        """End the process now, in the middle of whatever it does."""
        self._child.kill()

    def close(self) -> None:
        """End the process after what it does."""
        self._greeting.join()
        with self._child, suppress(BrokenPipeError):
            self._sink.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """The child: to each request reports while it is worked on, and one answer; until there are no more."""
    sink.write(READY)
    sink.flush()
    while True:
        try:
            parameters, arrays = _receive(source)
        except EOFError:
            return
        _answer(sink, parameters, arrays)


def _answer(sink: IO[bytes], parameters: dict[str, Any], arrays: Arrays) -> None:
    film, last = Film(), 0.0

    def report(progress: Progress) -> None:
        nonlocal last
        film(progress)
        if time.monotonic() - last >= REPORT_SECONDS:
            last = time.monotonic()
            _tell(sink, progress, film.frames[-1])

    try:
        fit = factorize(arrays["V"], arrays["observed"], callback=report, **parameters)
    except InputError as error:
        _send(sink, {"kind": "refused", "message": str(error)})
        return
    names = ("converged", "n_iter", "seconds", "method", "lam", "missing", "solver", "seed")
    about = {
        "kind": "done",
        "fields": {name: getattr(fit, name) for name in names},
        "frames": [(frame.iteration, frame.loss) for frame in film.frames],
    }
    kept = {f"{name}s": np.stack([getattr(frame, name) for frame in film.frames]) for name in ("W", "H")}
    _send(sink, about, W=fit.W, H=fit.H, **fit.history, **kept)


def _tell(sink: IO[bytes], progress: Progress, frame: Frame) -> None:
    about = {
        "kind": "progress",
        "iteration": progress.iteration,
        "loss": progress.loss,
        "share": progress.share,
        "seconds": progress.seconds,
    }
    _send(sink, about, W=frame.W, H=frame.H)


def _frame(about: dict[str, Any], W: npt.NDArray[Any], H: npt.NDArray[Any]) -> Frame:
    return Frame(about["iteration"], about["loss"], W, H)


def _fit(
    about: dict[str, Any], arrays: Arrays, V: npt.NDArray[np.floating], observed: npt.NDArray[np.bool_]
) -> Fit:
    history = {name: arrays[name] for name in ("squared_error", "adversarial_loss", "seconds")}
    return Fit(arrays["W"], arrays["H"], history=history, V=V, observed=observed, **about["fields"])


def _frames(about: dict[str, Any], arrays: Arrays) -> tuple[Frame, ...]:
    return tuple(
        Frame(iteration, loss, W, H)
        for (iteration, loss), W, H in zip(about["frames"], arrays["Ws"], arrays["Hs"], strict=True)
    )


def _send(stream: IO[bytes], about: dict[str, Any], **arrays: npt.NDArray[Any]) -> None:
    file = io.BytesIO()
    np.savez(file, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    stream.write(len(file.getbuffer()).to_bytes(8, "little"))
    stream.write(file.getbuffer())
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[dict[str, Any], Arrays]:
    size = stream.read(8)
    content = stream.read(int.from_bytes(size, "little")) if len(size) == 8 else b""
    if not content:
        raise EOFError
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(arrays.pop("about").tobytes())
    return about, arrays


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
