"""What counts as a second.

With two threads or more: the wall clock, on a machine that has nothing else to do. With
OPENBLAS_NUM_THREADS=1: processor time, which other work on the machine hardly changes.
"""

import os
import time

THREADS = int(os.environ.get("OPENBLAS_NUM_THREADS", "0")) or os.cpu_count() or 1

now = time.process_time if THREADS == 1 else time.perf_counter
