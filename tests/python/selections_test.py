# SPDX-License-Identifier: BSD-3-Clause
"""What v[...] means, without a file: always what numpy means."""

import numpy as np
import pytest

from windrow._selections import select, strides_of

SHAPE = (5, 4, 6)
KEYS = [
    ...,
    (),
    2,
    -1,
    (2, 3, -6),
    slice(1, 4),
    (slice(None), 2),
    (..., 1),
    (1, ..., slice(2, 5)),
    slice(None, None, 2),
    (slice(None), slice(3, None, -1), slice(1, 6, 3)),
    (slice(4, 0, -2), 1),
    slice(3, 3),
    (slice(4, 2), slice(None, None, 2)),
    slice(-100, 100),
    [0, 3],
    [3, 0, 0, -1],
    (slice(None), [1, 2, 0]),
    (slice(2, 3), slice(None), np.array([5, 0])),
    np.array([True, False, False, True, True]),
    [],
    (slice(1, 2), slice(None), slice(None, None, 5)),
]


def elements(key):
    """The elements that a selection's pieces name, in their order in memory."""
    whole = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    selection = select(key, SHAPE)
    starts, counts, places = selection.pieces()
    memory = np.full(selection.counts, -1)
    for start, count, place in zip(starts, counts, places):
        box = tuple(slice(p, p + c) for p, c in zip(place, count))
        assert (memory[box] == -1).all()
        memory[box] = whole[tuple(slice(s, s + c) for s, c in zip(start, count))]
    follows = [
        whole[tuple(slice(s, s + c) for s, c in zip(start, count))].ravel() for start, count in zip(starts, counts)
    ]
    if selection.is_in_order:
        assert np.array_equal(np.concatenate([*follows, np.zeros(0, int)]), memory.ravel())
    read, chosen = selection.hull()
    if chosen is not None:
        between = whole[np.ix_(*(axis.singles() for axis in read.axes))]
        assert read.axes[-1].is_run and np.array_equal(between[..., chosen], memory)
    return np.flip(memory, selection.flipped).reshape(selection.shape), whole


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_selection_is_numpys(key):
    mine, whole = elements(key)
    assert np.array_equal(mine, whole[key])


def test_lists_choose_from_each_dimension():
    mine, whole = elements(([4, 0], slice(1, 3), [2, 3, 5]))
    assert np.array_equal(mine, whole[np.ix_([4, 0], [1, 2], [2, 3, 5])])


def test_a_scalar_is_one_block_without_dimensions():
    starts, counts, places = select((), ()).pieces()
    assert starts.shape == counts.shape == places.shape == (1, 0)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (5, IndexError),
        (-6, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((..., ...), IndexError),
        ([0, 9], IndexError),
        ([True, False], IndexError),
        ("temperature", TypeError),
        (1.5, TypeError),
        ([0.5], TypeError),
        (slice(0, 2.5), TypeError),
        (slice(None, None, 0), ValueError),
    ],
    ids=str,
)
def test_what_is_no_selection(key, error):
    with pytest.raises(error):
        select(key, SHAPE)


@pytest.mark.parametrize(
    "part",
    [np.s_[...], np.s_[2:5, 3:7, 1:2], np.s_[::2, 0:1, ::-3], np.s_[1:2, :, 3:4], np.s_[::-1, ::-1, 5:2:-1]],
    ids=str,
)
@pytest.mark.parametrize("order", "CF")
def test_how_far_apart_elements_lie(part, order):
    array = np.arange(7 * 8 * 9.0).reshape((7, 8, 9), order=order)[part]
    found = strides_of(array)
    assert found is not None
    for place in np.ndindex(array.shape):
        assert sum(i * s for i, s in zip(place, found)) * 8 == sum(i * s for i, s in zip(place, array.strides)), (
            found,
            place,
        )


@pytest.mark.parametrize(
    "array", [np.broadcast_to(np.ones(4), (3, 4)), np.ones(3, "f8, i4")["f0"]], ids=["spread", "field"]
)
def test_what_lies_at_no_elements(array):
    assert strides_of(array) is None
