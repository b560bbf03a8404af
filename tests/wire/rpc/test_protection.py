"""Each level protects what those below it protect."""

from __future__ import annotations

from reliquary.wire.rpc.protection import Protection


def test_the_levels_are_ordered_as_they_are_numbered() -> None:
    assert [level.value for level in Protection] == [1, 2, 3, 4, 5, 6]
    assert Protection.CONNECT < Protection.PACKET < Protection.INTEGRITY < Protection.PRIVACY
