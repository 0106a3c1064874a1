"""Which candidate is best, when some of what was held out may be wrong."""

import numpy as np
import pytest

from atnmf_core.restoration.candidates import PLAIN, Candidate, Treatment, default_Ks, neighbours
from atnmf_core.restoration.path import HeldOutResult
from atnmf_core.restoration.scoring import Score, compare, simplest_of_the_best

rng = np.random.default_rng(2)
SOUND = rng.uniform(1, 2, 4000)
ROBUST, FOLLOWS = Candidate(4, Treatment(1.1)), Candidate(4, PLAIN)


@pytest.fixture(autouse=True)
def same_draws():
    """The same in every test, whichever ran before it in this process."""
    rng.bit_generator.state = np.random.default_rng(3).bit_generator.state


def record(candidate, predictions, truth=None, replicate=0):
    """What a model predicts; with the data, what it then suspects."""
    wrong = np.zeros(SOUND.size, dtype=bool)
    if truth is not None:
        residual = np.abs(truth - predictions)
        far = (1.3 * truth < predictions) | (truth > 1.3 * predictions)
        wrong = (residual > 6 * np.median(residual)) & far
    return HeldOutResult(
        candidate,
        replicate,
        np.ones((1, 1)),
        predictions.astype(np.float32),
        wrong,
        np.zeros(1, np.uint8),
        0.0,
    )


def damaged(share, factor=0.2):
    wrong = rng.random(SOUND.size) < share
    return np.where(wrong, factor * SOUND, SOUND), wrong


def noisy(deviation):
    return SOUND * (1 + deviation * rng.normal(size=SOUND.size))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.45])
def test_a_model_that_follows_the_defects_is_not_preferred(share):
    truth, _ = damaged(share)
    pulled = SOUND - 0.8 * share * SOUND
    records = [record(ROBUST, noisy(0.05), truth), record(FOLLOWS, pulled, truth)]
    assert compare(records, [truth], robust=True)[0][0].candidate == ROBUST
    assert compare(records, [truth], robust=False)[0][0].candidate == FOLLOWS


def test_without_suspects_the_size_of_the_largest_errors_decides():
    truth, wrong = damaged(0.1)
    heavy = SOUND * (
        1 + np.where(rng.random(SOUND.size) < 0.05, 0.25, 0.03) * rng.choice([-1, 1], SOUND.size)
    )
    even = noisy(0.045)
    scores, rule, suspects = compare(
        [record(ROBUST, even, truth), record(FOLLOWS, heavy, truth)], [truth], robust=True
    )
    assert rule == "rmse of sound entries"
    assert suspects == pytest.approx(wrong.mean(), abs=0.005)
    assert scores[0].candidate == ROBUST
    assert scores[0].error == pytest.approx(np.sqrt(np.mean((SOUND - even)[~wrong] ** 2)), rel=0.02)


def test_defects_as_small_as_the_errors_of_the_model_are_mostly_not_followed():
    chosen = {robust: [] for robust in (True, False)}
    for _ in range(20):
        truth, _ = damaged(0.3, factor=0.6)
        records = [record(ROBUST, noisy(0.2), truth), record(FOLLOWS, noisy(0.2) - 0.12 * SOUND, truth)]
        for robust, found in chosen.items():
            found.append(compare(records, [truth], robust=robust)[0][0].candidate)
    assert chosen[True].count(ROBUST) >= 15
    assert chosen[False].count(FOLLOWS) == 20


def test_a_heavy_tail_that_is_the_same_on_both_sides_is_sound():
    """What looks wrong to the model with the smallest typical error is what the other one describes."""
    tail = rng.random(SOUND.size) < 0.1
    truth = SOUND * (1 + np.where(tail, 0.35, 0) * rng.choice([-1, 1], SOUND.size))
    misses = record(ROBUST, noisy(0.05), truth)
    close = np.where(tail, truth, SOUND) * (1 + 0.06 * rng.normal(size=SOUND.size))
    describes = record(FOLLOWS, close, truth)
    scores, _, suspects = compare([misses, describes], [truth], robust=True)
    assert suspects > 0.08
    assert [score.candidate for score in scores] == [FOLLOWS, ROBUST]


def test_marked_losses_are_scored_by_rmse():
    scores, rule, suspects = compare([record(FOLLOWS, SOUND + 0.3)], [SOUND], robust=False)
    assert (rule, suspects) == ("rmse", 0)
    assert scores[0].error == pytest.approx(0.3, rel=1e-5)


def test_replicates_give_a_mean_and_its_standard_error():
    records = [record(FOLLOWS, SOUND + off, replicate=r) for r, off in enumerate((0.1, 0.2, 0.3))]
    score = compare(records, [SOUND] * 3, robust=False)[0][0]
    assert score.error == pytest.approx(0.2, rel=1e-5)
    assert score.standard_error == pytest.approx(0.1 / np.sqrt(3), rel=1e-4)
    assert score.replicates == 3


def test_every_hold_out_has_its_suspects_left_out_also_when_the_reference_was_not_tried_on_it():
    (first, _), (second, _) = damaged(0.1), damaged(0.1)
    records = [
        record(ROBUST, noisy(0.02), first),
        record(FOLLOWS, noisy(0.022), first),
        record(FOLLOWS, noisy(0.022), second, 1),
    ]
    scores, _, suspects = compare(records, [first, second], robust=True)
    assert suspects == pytest.approx(0.1, abs=0.02)
    follows = next(score for score in scores if score.candidate == FOLLOWS)
    assert follows.error == pytest.approx(0.022 * np.sqrt(np.mean(SOUND**2)), rel=0.1)


def scored(K, error, treatment=PLAIN, spread=0.0, replicates=3):
    return Score(Candidate(K, treatment), error, spread, error, replicates)


def test_of_equally_good_models_the_simplest_is_chosen():
    scores = [scored(8, 1.0, spread=0.04), scored(4, 1.03), scored(2, 1.2)]
    chosen, equal = simplest_of_the_best(scores)
    assert chosen.candidate.K == 4
    assert len(equal) == 2


def test_a_model_that_is_clearly_worse_is_not_equal_however_uncertain_the_best_is():
    assert simplest_of_the_best([scored(8, 1.0, spread=0.5), scored(4, 1.2)])[0].candidate.K == 8


def test_an_adversary_has_to_earn_its_place():
    strong = scored(4, 1.0, Treatment(1.1))
    assert simplest_of_the_best([strong, scored(4, 1.02)])[0].candidate.treatment == PLAIN
    assert simplest_of_the_best([strong, scored(4, 1.05)])[0].candidate.treatment == PLAIN
    assert simplest_of_the_best([strong, scored(4, 1.07)])[0] == strong
    milder = scored(4, 1.02, Treatment(1.3))
    assert simplest_of_the_best([strong, milder, scored(4, 1.07)])[0] == milder


def test_plain_nmf_with_many_more_parts_is_no_simpler():
    strong = scored(2, 1.0, Treatment(1.1))
    assert simplest_of_the_best([strong, scored(32, 1.05)])[0] == strong


def test_candidates_given_up_on_the_way_are_not_chosen():
    scores = [scored(8, 1.0, spread=0.5), scored(2, 1.01, replicates=1)]
    assert simplest_of_the_best(scores)[0].candidate.K == 8


def test_the_ks_to_try_are_those_that_the_data_supports():
    assert default_Ks((5, 5), 25) == (1,)
    assert max(default_Ks((100, 4096), 409600)) == 24
    assert neighbours(2, (2, 3, 4)) == (2, 3)
    assert neighbours(3, (2, 3, 4)) == (2, 3, 4)
