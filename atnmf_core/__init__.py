"""Adversarially-trained NMF. Importing this, and `factorize`, need NumPy and SciPy alone."""

from .datasets import Dataset, load_dataset, paper_mask, read_dataset
from .model.hiding import hide_entries
from .model.metrics import psnr, rmse, ssim
from .model.problem import InputError
from .model.result import Fit, Progress
from .restoration import Restoration, restore
from .solvers.factorization import SOLVER_VERSIONS, factorize, transform

__all__ = [
    "SOLVER_VERSIONS", "Dataset", "Fit", "InputError", "Progress", "Restoration", "factorize",
    "hide_entries", "load_dataset", "paper_mask", "psnr", "read_dataset", "restore", "rmse", "ssim",
    "transform",
]  # fmt: skip
