import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tasks.algorithms.metrics import bootstrap
from tasks.algorithms.metrics.bootstrap import bootstrap_interval, resampled_interval

USUAL = {"resamples": 400, "confidence": 0.95, "seed": 7}
SAMPLES = st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 5)), min_size=1, max_size=20)


def arrays_of(sample):
    return np.array([value for value, _ in sample]), np.array([cluster for _, cluster in sample])


def drawn(generator, *, documents, most, spread):
    """Questions of mean 0, 1 to `most` in a document; what it adds to all of them spreads `spread` times as far as they do."""
    clusters = np.repeat(np.arange(documents), generator.integers(1, most + 1, documents))
    return generator.normal(size=len(clusters)) + spread * generator.normal(size=documents)[clusters], clusters


def test_an_interval_worked_by_hand():
    # Two documents, (1, 1) and (0): drawn twice the first gives 1, twice the second 0, once each 2 / 3: a half, with a quarter on
    # each side. So the middle 40 % is the point 2 / 3, and the middle 60 % the whole.
    sample = {"values": np.array([1.0, 0.0, 1.0]), "clusters": np.array([4, 9, 4]), "resamples": 2000, "seed": 1}
    narrow = bootstrap_interval(**sample, confidence=0.4)
    assert (narrow.mean, narrow.low, narrow.high) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    wide = bootstrap_interval(**sample, confidence=0.6)
    assert (wide.mean, wide.low, wide.high) == (pytest.approx(2 / 3), 0.0, 1.0)


def test_documents_have_the_intervals_of_the_reference():
    values, clusters = drawn(np.random.default_rng(11), documents=30, most=12, spread=1.0)
    sums, sizes = (np.bincount(clusters, weights=weights) for weights in (values, np.ones(len(values))))
    ours = bootstrap_interval(values=values, clusters=clusters, resamples=20_000, confidence=0.95, seed=5)
    theirs = stats.bootstrap(
        (sums, sizes),
        lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True, vectorized=True, n_resamples=20_000, batch=2000, method="percentile", rng=np.random.default_rng(6),
    )  # fmt: skip
    # Likewise at 2.5 %, where a quantile errs by 0.019.
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.08 * theirs.standard_error)


@given(SAMPLES, st.permutations(range(6)), st.randoms(use_true_random=False))
def test_neither_the_order_of_questions_nor_the_numbers_of_clusters_matter(sample, renamed, shuffler):
    values, clusters = arrays_of(sample)
    order = list(range(len(values)))
    shuffler.shuffle(order)
    other = bootstrap_interval(values=values[order], clusters=np.array(renamed)[clusters[order]], **USUAL)
    assert other == bootstrap_interval(values=values, clusters=clusters, **USUAL)


@given(SAMPLES)
def test_an_interval_lies_within_the_values_and_grows_with_the_confidence(sample):
    values, clusters = arrays_of(sample)
    narrow, wide = (
        bootstrap_interval(values=values, clusters=clusters, resamples=400, confidence=confidence, seed=7)
        for confidence in (0.5, 0.95)
    )
    assert values.min() <= wide.low <= narrow.low <= narrow.high <= wide.high <= values.max()
    assert narrow.mean == wide.mean == pytest.approx(values.mean(), abs=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.integers())
def test_one_document_leaves_a_point(values, name):
    name %= 1000
    interval = bootstrap_interval(values=np.array(values), clusters=np.full(len(values), name), **USUAL)
    assert interval.low == interval.mean == interval.high == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("draws", [1, 7, 95, 100])
def test_drawing_in_parts_changes_nothing(draws, monkeypatch):
    values, clusters = drawn(np.random.default_rng(0), documents=10, most=3, spread=1.0)
    whole = bootstrap_interval(values=values, clusters=clusters, **USUAL)
    monkeypatch.setattr(bootstrap, "DRAWS_AT_ONCE", draws)
    assert bootstrap_interval(values=values, clusters=clusters, **USUAL) == whole


def test_a_value_that_is_no_number_is_refused_by_its_place():
    with pytest.raises(ValueError, match=r"values must be finite, .* not nan at place 1"):
        bootstrap_interval(values=np.array([1.0, np.nan]), clusters=np.array([0, 1]), **USUAL)


@given(SAMPLES)
def test_the_interval_of_a_statistic_that_is_the_mean_is_that_of_the_mean(sample):
    values, clusters = arrays_of(sample)
    found = resampled_interval(lambda places: float(values[places].mean()), clusters=clusters, **USUAL)
    mean = bootstrap_interval(values=values, clusters=clusters, **USUAL)
    assert found.mean == pytest.approx(mean.mean)
    # The documents are drawn in another order, so that the draws are others.
    spread = mean.high - mean.low
    assert abs(found.low - mean.low) <= 0.5 * spread + 1e-9 and abs(found.high - mean.high) <= 0.5 * spread + 1e-9


def test_a_statistic_is_given_whole_clusters():
    seen = []
    found = resampled_interval(lambda places: seen.append(sorted(places.tolist())) or 0.0, clusters=np.array([7, 3, 7]), **USUAL)
    assert found == (0.0, 0.0, 0.0) and seen[-1] == [0, 1, 2]
    assert {tuple(places) for places in seen} == {(0, 1, 2), (1, 1), (0, 0, 2, 2)}
