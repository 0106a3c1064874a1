"""The examples in the core's docstrings print what they say."""

import doctest
from importlib import import_module

import numpy as np
import pytest

import atnmf_core

MODULES = [
    "adversary",
    "factorization",
    "figures.composite",
    "hiding",
    "initialisation",
    "metrics",
    "problem",
    "projection",
    "pure_pixels",
    "result",
    "solvers.fast",
    "solvers.paper",
    "solvers.steps",
    "solvers.surrogate",
    "analysis.unmixing",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    module = import_module(f"atnmf_core.{name}")
    names = {**vars(atnmf_core), **vars(module), "np": np}
    assert doctest.testmod(module, extraglobs=names).failed == 0


def test_the_functions_that_people_call_have_examples():
    finder = doctest.DocTestFinder()
    for function in (atnmf_core.factorize, atnmf_core.transform, atnmf_core.hide_entries, atnmf_core.rmse):
        assert any(test.examples for test in finder.find(function, function.__name__))
