"""The flags of the history's heads do not overlap, and every number of an event has a column."""

from __future__ import annotations

from reliquary.queueing.model.history.records import BY_SHAPE, COLUMNS, FIRSTS, GROUP, Shape


def test_each_flag_means_one_thing() -> None:
    flags = [int(shape) for shape in Shape] + [column.listed for column in COLUMNS]
    assert sum(flags) == 0b11111111_11_00_111111
    assert len(set(flags)) == len(flags)


def test_each_shape_but_the_correlation_has_columns() -> None:
    assert set(BY_SHAPE) == {0, *map(int, Shape)} - {int(Shape.CORRELATED)}
    assert set(FIRSTS) == set(BY_SHAPE) - {0}


def test_layouts_can_be_read_as_columns_of_equal_width() -> None:
    assert GROUP.size % 8 == 0
    for flag, layout in FIRSTS.items():
        assert all(layout.size % {"I": 4, "q": 8}[column.format] == 0 for column in BY_SHAPE[flag])
