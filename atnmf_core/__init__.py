"""Adversarially-trained nonnegative matrix factorization: data, hiding, solvers and measures."""

from .datasets import Dataset, load_dataset, paper_mask, read_dataset
from .factorization import SOLVER_VERSIONS, factorize
from .hiding import hide_entries
from .metrics import psnr, rmse, ssim
from .problem import InputError
from .projection import transform
from .restoration import Restoration, restore
from .result import Fit, Progress

__all__ = [
    "SOLVER_VERSIONS",
    "Dataset",
    "Fit",
    "InputError",
    "Progress",
    "Restoration",
    "factorize",
    "hide_entries",
    "load_dataset",
    "paper_mask",
    "psnr",
    "read_dataset",
    "restore",
    "rmse",
    "ssim",
    "transform",
]
