"""The paper's words: the problem, its adversary, hidden entries, start factors, results and measures."""
