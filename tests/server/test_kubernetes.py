"""The variables that Kubernetes sets for Services are left out of the settings, and no setting is."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.config import Settings
from reliquary.server.kubernetes import is_of_kubernetes
from reliquary.server.loading import NAMES, NOT_OURS, TABLES, load


def variables_of(service: str) -> dict[str, str]:
    """Return all variables of a Service with one port that has a name and one of UDP."""
    found = {
        "SERVICE_HOST": "10.0.0.11",
        "SERVICE_PORT": "8480",
        "SERVICE_PORT_DATA": "8480",
        "SERVICE_PORT_HTTP_METRICS": "8481",
        "PORT": "tcp://10.0.0.11:8480",
        "PORT_8480_TCP": "tcp://10.0.0.11:8480",
        "PORT_8480_TCP_PROTO": "tcp",
        "PORT_8480_TCP_PORT": "8480",
        "PORT_8480_TCP_ADDR": "10.0.0.11",
        "PORT_3527_UDP": "udp://10.0.0.11:3527",
        "PORT_3527_UDP_PROTO": "udp",
        "PORT_3527_UDP_PORT": "3527",
        "PORT_3527_UDP_ADDR": "10.0.0.11",
    }
    prefix = service.upper().replace("-", "_")
    return {f"{prefix}_{name}": value for name, value in found.items()}


@pytest.mark.parametrize("service", ["reliquary", "reliquary-data", "reliquary-control", "reliquary-srmp-0"])
def test_the_variables_of_a_service_are_no_settings(service: str) -> None:
    assert load(None, variables_of(service)) == Settings()


def test_other_variables_become_settings() -> None:
    given = variables_of("reliquary") | {"RELIQUARY_DATA_PORT": "9000", "RELIQUARY_QUOTA": "5"}
    assert load(None, given) == Settings(data_port=9000, quota=5)


def test_no_setting_has_their_shape() -> None:
    names = [*NAMES, *(f"{table.name}_{name}" for table in TABLES for name in table.names)]
    for variable in (*NOT_OURS, *(f"RELIQUARY_{name.upper()}" for name in names)):
        assert not is_of_kubernetes(variable, "8480"), variable


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RELIQUARY_DATA_PORT", "http://10.0.0.11:8480"),
        ("RELIQUARY_DATA_PORT", "tcp://"),
        ("RELIQUARY_SERVICES_HOST", "10.0.0.11"),
        ("RELIQUARY_PORT_DATA", "8480"),
    ],
)
def test_variables_that_resemble_those_of_kubernetes_are_refused(variable: str, value: str) -> None:
    with pytest.raises(UsageError, match="environment: "):
        load(None, {variable: value})
