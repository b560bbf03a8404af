"""Settings as values; what is refused is shown in test_loading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.config import Settings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.srmp_options import SrmpOptions


@dataclass(frozen=True)
class ToyOptions:
    """The table of a protocol that only this test has."""

    port: int = 7

    def check(self, settings: Settings) -> None:
        if self.port == settings.data_port:
            raise UsageError("toy.port is that of the data plane")


def test_a_table_is_found_by_its_type_and_has_defaults_where_it_is_missing() -> None:
    settings = Settings(tables=(ToyOptions(8), SrmpOptions(http_port=80)))
    assert settings.table(ToyOptions) == ToyOptions(8)
    assert settings.table(SrmpOptions).http_port == 80
    assert settings.table(HttprOptions) == HttprOptions()


def test_a_table_is_checked_against_the_other_settings() -> None:
    with pytest.raises(UsageError, match=r"toy\.port is that of the data plane"):
        Settings(data_port=9, tables=(ToyOptions(9),))
    with pytest.raises(UsageError, match=r"srmp\.https_port means nothing without tls_certificate"):
        Settings(tables=(SrmpOptions(https_port=443),))


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="which is a file"):
        Settings(folder=file)
