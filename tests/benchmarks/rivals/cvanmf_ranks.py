"""The choice of K alone by cvanmf (bi-cross-validation), for the speed of our choice of K and the adversary:

    python -m tests.benchmarks.rivals.cvanmf_ranks MATRIX.npy

in an environment of its own (`pip install cvanmf 'statsmodels<0.15'`), as it needs Python 3.12 and an older
pandas.
Prints processor seconds of one thread, for the Ks and as many replicates as `speed` in ../restoration.py.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import cvanmf.denovo
import numpy as np
import pandas as pd

KS, REPLICATES = (2, 3, 4, 6, 8, 12, 16, 24), 3

if __name__ == "__main__":
    table = pd.DataFrame(np.load(sys.argv[1]).astype(np.float64))
    for loss in ("frobenius", "kullback-leibler"):
        began = time.process_time()
        found = cvanmf.denovo.rank_selection(
            table, KS, shuffles=REPLICATES, seed=0, beta_loss=loss, progress_bar=False
        )
        print(f"{loss}: {time.process_time() - began:.0f} s, suggests {cvanmf.denovo.suggest_rank(found)}")
