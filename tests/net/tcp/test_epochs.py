"""Tests which connection counts: that of the newest epoch, and none of an epoch that is over."""

from __future__ import annotations

from reliquary.net.tcp.epochs import Epochs


class Link:
    """A link that counts how often it was ended."""

    def __init__(self) -> None:
        self.ends = 0

    def end(self) -> None:
        self.ends += 1


def test_an_epoch_has_one_connection() -> None:
    epochs = Epochs(Link)
    link = epochs.find(1, 0)
    assert link is not None
    assert epochs.find(1, 0) is link
    assert epochs[1] is link
    assert list(epochs) == [link]
    assert link.ends == 0


def test_keys_have_nothing_to_do_with_each_other() -> None:
    epochs = Epochs(Link)
    first, second = epochs.find(1, 5), epochs.find(2, 3)
    assert first is not second
    epochs.end(2, 3)
    assert list(epochs) == [first]


def test_a_newer_epoch_ends_the_older_one_and_what_is_late_is_not_taken() -> None:
    epochs = Epochs(Link)
    old, new = epochs.find(1, 1), epochs.find(1, 4)
    assert old is not None
    assert old.ends == 1
    assert [epochs.find(1, epoch) for epoch in (1, 2, 3)] == [None, None, None]
    assert epochs.find(1, 4) is new


def test_an_epoch_that_was_ended_does_not_begin_again() -> None:
    epochs = Epochs(Link)
    link = epochs.find(1, 2)
    assert link is not None
    epochs.end(1, 2)
    epochs.end(1, 2)
    assert link.ends == 1
    assert epochs.find(1, 2) is None
    assert len(epochs) == 0
    assert epochs.find(1, 3) is not None


def test_an_end_that_comes_late_leaves_the_newer_epoch_alone() -> None:
    epochs = Epochs(Link)
    link = epochs.find(1, 2)
    assert link is not None
    epochs.end(1, 1)
    assert link.ends == 0
    assert epochs.find(1, 2) is link


def test_an_epoch_may_end_before_it_began() -> None:
    epochs = Epochs(Link)
    epochs.end(1, 7)
    assert epochs.find(1, 7) is None
    assert epochs.find(1, 8) is not None


def test_all_can_be_ended_and_stay_so() -> None:
    epochs = Epochs(Link)
    links = [epochs.find(key, 0) for key in range(5)]
    epochs.end_all()
    assert len(epochs) == 0
    assert [link.ends for link in links if link is not None] == [1] * 5
    assert epochs.find(3, 0) is None
