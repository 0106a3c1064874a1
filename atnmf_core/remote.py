"""A fit in a process of its own: it holds up no thread of the one that asked, tells how far it is, and can be
given up at any moment.

Parent and child (``python -m atnmf_core.remote``) exchange messages over the child's standard input and
output: the length in eight bytes, then an NPZ archive, in which one JSON text is all that is not an array.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .factorization import factorize
from .film import Film, Frame
from .problem import InputError
from .result import Fit, Progress

__all__ = ["RemoteFit"]

REPORT_SECONDS = 0.3
Arrays = dict[str, npt.NDArray[Any]]
Watcher = Callable[[Frame, float, float], None]
"""Called with the latest frame, the share of the work done, and the seconds gone."""


class RemoteFit:
    """`factorize(V, observed, **parameters)` elsewhere.

    Parameters
    ----------
    V, observed : as for `factorize`.
    parameters : its keyword arguments that JSON can hold.
    """

    def __init__(
        self, V: npt.NDArray[np.floating], observed: npt.NDArray[np.bool_], **parameters: Any
    ) -> None:
        self._V, self._observed, self._parameters = V, observed, parameters
        places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, places)), "OPENBLAS_NUM_THREADS": "1"},
        )

    def result(self, watch: Watcher) -> tuple[Fit, tuple[Frame, ...]] | None:
        """Wait for the fit and its film; None where it was given up.

        Raises
        ------
        InputError : what `factorize` refused.
        RuntimeError : the process ended without an answer.
        """
        source, sink = self._child.stdout, self._child.stdin
        assert source is not None
        assert sink is not None
        with self._child as child:
            try:
                _send(sink, self._parameters, V=self._V, observed=self._observed)
                while True:
                    about, arrays = _receive(source)
                    if about["kind"] == "progress":
                        watch(_frame(about, arrays["W"], arrays["H"]), about["share"], about["seconds"])
                    elif about["kind"] == "refused":
                        raise InputError(about["message"])
                    else:
                        return self._fit(about, arrays), _frames(about, arrays)
            except (EOFError, BrokenPipeError):
                if child.wait() < 0:
                    return None
                raise RuntimeError(
                    f"the process of this fit ended by itself (exit code {child.returncode})."
                ) from None

    def give_up(self) -> None:
        """End the process now; `result` then returns None."""
        self._child.kill()

    def _fit(self, about: dict[str, Any], arrays: Arrays) -> Fit:
        history = {name: arrays[name] for name in ("squared_error", "adversarial_loss", "seconds")}
        return Fit(
            arrays["W"], arrays["H"], history=history, V=self._V, observed=self._observed, **about["fields"]
        )


def _serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """The child: one request, reports while it is worked on, one answer."""
    parameters, arrays = _receive(source)
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
    kept = {f"{name}{i}": getattr(frame, name) for i, frame in enumerate(film.frames) for name in ("W", "H")}
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


def _frames(about: dict[str, Any], arrays: Arrays) -> tuple[Frame, ...]:
    return tuple(
        Frame(iteration, loss, arrays[f"W{i}"], arrays[f"H{i}"])
        for i, (iteration, loss) in enumerate(about["frames"])
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
