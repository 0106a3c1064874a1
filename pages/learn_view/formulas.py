"""Every formula of the lesson, in one place: the tests evaluate each of them against the core.

Letters: v is a number in the data, p its prediction, r what the adversary adds, lambda its price, g its
leash. In a sum, Omega are the entries that are seen and Gamma those that are hidden.
"""

from __future__ import annotations

FORMULAS = {
    "sum_of_parts": r"p_i = \sum_{k=1}^{K} h_k w_{ik}",
    "weight_ignoring": r"h = \frac{\sum_{i \in \Omega} w_i v_i}{\sum_{i \in \Omega} w_i^2}",
    "weight_zeros": r"h = \frac{\sum_{i \in \Omega} w_i v_i}{\sum_{i} w_i^2}",
    "rmse": r"\mathrm{RMSE} = \sqrt{\frac{\sum_{i \in \Gamma} (v_i - p_i)^2}{\sum_{i \in \Gamma} 1}}",
    "attack_value": r"(v + r - p)^2 - \lambda r^2",
    "best_attack": r"r^* = \max\left(\frac{v - p}{\lambda - 1}, -v\right)",
    "game_value": r"\sum_{i} (v_i + r_i - p_i)^2 - \lambda \sum_{i} r_i^2",
    "overshoot": r"p_{\mathrm{next}} - v = -\frac{1}{\lambda - 1} (p - v)",
    "steepness": r"\frac{\lambda}{\lambda - 1}",
    "loss": r"\ell(v, p) = \begin{cases} \frac{\lambda}{\lambda - 1} (v - p)^2 & p \le \lambda v "
    r"\\ p^2 - \lambda v^2 & p > \lambda v \end{cases}",
    "lower_bend": r"v (1 - (\lambda - 1) g)",
    "leashed": r"v + g v",
    "leash_loss": r"(v + g v - p)^2 - \lambda g^2 v^2",
    "target": r"t = \max\left(v, \frac{p}{\lambda}\right)",
}
