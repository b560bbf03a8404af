"""Tests settings: where they come from, who wins, what is refused."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.identity.users import User
from reliquary.net.multicast.options import Encapsulation, MulticastOptions
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.message import FOREVER
from reliquary.server.config import Settings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.loading import NAMES, load
from reliquary.server.logs import LogFormat, LogLevel
from reliquary.server.mqqp_options import MqqpOptions
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.tracing_options import TracingOptions
from reliquary.server.wsrm_options import WsrmOptions


def written(folder: Path, text: str) -> Path:
    file = folder / "reliquary.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_without_settings_the_server_serves_this_computer_alone() -> None:
    settings = load()
    assert settings == Settings()
    assert (settings.data_host, settings.data_port) == ("127.0.0.1", 8480)
    assert (settings.control_host, settings.control_port) == ("127.0.0.1", 8481)
    assert (settings.folder, settings.quota, settings.queues) == (Path("reliquary-data"), FOREVER, ())


def test_the_default_computer_name_is_valid_for_msmq() -> None:
    assert re.fullmatch(r"[A-Z0-9-]{1,15}", Settings().computer_name)


def test_every_setting_can_come_from_a_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
        folder = "/data"
        witness = "/w"
        data_host = "0.0.0.0"
        data_port = 1
        control_host = "::1"
        control_port = 2
        data_tls_port = 3
        log_format = "json"
        log_level = "debug"
        names = ["mq.example", "mq"]
        open_to_network = true
        computer_name = "HERE"
        quota = 3
        low_space = 4
        reserve = 5
        queues = ["orders", "orders;retry"]
        in_doubt_wait = 2.5
        tls_certificate = "/c"
        tls_key = "/k"
        tls_client_ca = "/a"
        tls_client_required = true
        hardened_security = true
        anonymous_may = ["send-elsewhere", "begin-transactions"]
        directory_integrated = true
        site = "0f0e0d0c-0b0a-0908-0706-050403020100"
        domain = "shop.example"
        machine_sid = "S-1-5-21-1-2-3-500"
        directory_servers = ["dc1", "dc2.shop.example"]
        [srmp]
        store_and_forward = true
        [httpr]
        forward = true
        [wsrm]
        window = 9
        [mqqp]
        enabled = true
        [tracing]
        endpoint = "https://collector.example:4318/v1/traces"
        sample_ratio = 0.25
        service_name = "mq"
        [multicast]
        enabled = false
        interface = "eth1"
        ttl = 8
        rate = 5000
        encapsulation = "udp"
        source_port = 5
        group_port = 6
        mtu = 9000
        [[users]]
        name = "alice"
        token_sha256 = "abababababababababababababababababababababababababababababababab"
        groups = ["clerks"]
        """,
    )
    expected = Settings(
        folder=Path("/data"),
        witness=Path("/w"),
        data_host="0.0.0.0",
        data_port=1,
        control_host="::1",
        control_port=2,
        data_tls_port=3,
        names=("mq.example", "mq"),
        log_format=LogFormat.JSON,
        log_level=LogLevel.DEBUG,
        open_to_network=True,
        computer_name="HERE",
        quota=3,
        low_space=4,
        reserve=5,
        queues=("orders", "orders;retry"),
        in_doubt_wait=2.5,
        tls_certificate=Path("/c"),
        tls_key=Path("/k"),
        tls_client_ca=Path("/a"),
        tls_client_required=True,
        hardened_security=True,
        anonymous_may=("send-elsewhere", "begin-transactions"),
        directory_integrated=True,
        site=UUID("0f0e0d0c-0b0a-0908-0706-050403020100"),
        domain="shop.example",
        machine_sid="S-1-5-21-1-2-3-500",
        directory_servers=("dc1", "dc2.shop.example"),
        tables=(
            SrmpOptions(protocol=SrmpSettings(store_and_forward=True)),
            HttprOptions(protocol=HttprSettings(forward=True)),
            WsrmOptions(protocol=WsrmSettings(window=9)),
            MqqpOptions(enabled=True),
        ),
        multicast=MulticastOptions(
            enabled=False,
            interface="eth1",
            ttl=8,
            rate=5000,
            encapsulation=Encapsulation.UDP,
            source_port=5,
            group_port=6,
            mtu=9000,
        ),
        tracing=TracingOptions(
            endpoint="https://collector.example:4318/v1/traces", sample_ratio=0.25, service_name="mq"
        ),
        users=(User(name="alice", token_sha256="ab" * 32, groups=("clerks",)),),
    )
    assert load(file) == expected
    tables = (
        "users",
        "queue",
        "peers",
        "srmp",
        "httpr",
        "wsrm",
        "mqqp",
        "mqqb",
        "multicast",
        "history",
        "limits",
        "acts",
        "tracing",
    )
    names = [name for name in NAMES if name not in tables]
    environment = {"RELIQUARY_" + name.upper(): str(getattr(expected, name)) for name in names}
    environment["RELIQUARY_SRMP_STORE_AND_FORWARD"] = "true"
    environment["RELIQUARY_HTTPR_FORWARD"] = "true"
    environment["RELIQUARY_WSRM_WINDOW"] = "9"
    environment["RELIQUARY_MQQP_ENABLED"] = "true"
    for name in fields(TracingOptions):
        environment[f"RELIQUARY_TRACING_{name.name.upper()}"] = str(getattr(expected.tracing, name.name))
    environment["RELIQUARY_QUEUES"] = "orders, orders;retry"
    environment["RELIQUARY_DIRECTORY_SERVERS"] = "dc1, dc2.shop.example"
    environment["RELIQUARY_NAMES"] = "mq.example, mq"
    environment["RELIQUARY_ANONYMOUS_MAY"] = "send-elsewhere, begin-transactions"
    for name in fields(MulticastOptions):
        value = getattr(expected.multicast, name.name)
        environment[f"RELIQUARY_MULTICAST_{name.name.upper()}"] = str(getattr(value, "value", value))
    assert load(None, environment) == replace(expected, users=())


def test_users_come_from_the_file_alone() -> None:
    with pytest.raises(UsageError, match="users stand in the settings file alone"):
        load(None, {"RELIQUARY_USERS": "alice"})
    assert load(None, {"RELIQUARY_TOKEN": "secret"}) == Settings()


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "data_port = 1\ncontrol_port = 1\nquota = 1\n")
    environment = {"RELIQUARY_CONTROL_PORT": "2", "RELIQUARY_QUOTA": "2", "PATH": "/bin"}
    settings = load(file, environment, {"quota": 3, "folder": None})
    assert (settings.data_port, settings.control_port, settings.quota) == (1, 2, 3)
    assert settings.folder == Path("reliquary-data")


def test_the_clients_variables_are_not_ours() -> None:
    assert (
        load(None, {"RELIQUARY_SERVER": "x", "RELIQUARY_CONTROL": "y", "RELIQUARY_SETTINGS": "z"})
        == Settings()
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "data_prot = 1", "there is no setting 'data_prot'; did you mean data_port?", id="unknown"
        ),
        pytest.param("data_port = '1'", "data_port: Expected `int`, got `str`", id="a number in quotes"),
        pytest.param("data_port = 70000", "data_port is 0 to 65535, not 70000", id="port"),
        pytest.param("control_port = -1", "control_port is 0 to 65535, not -1", id="negative port"),
        pytest.param("low_space = -1", "low_space is 0 to 1048576 megabytes, not -1", id="space"),
        pytest.param("reserve = 1048577", "reserve is 0 to 1048576 megabytes, not 1048577", id="reserve"),
        pytest.param("quota = 4294967296", "quota is 0 to 4294967295 kilobytes, not 4294967296", id="quota"),
        pytest.param("queues = 'orders'", "queues: Expected `array`, got `str`", id="no list"),
        pytest.param("queues = ['a+b']", "cannot contain '+'", id="bad queue"),
        pytest.param("data_host = ''", "data_host is empty", id="no host"),
        pytest.param("control_host = '::'", "control_host is ::, which other computers may reach", id="open"),
        pytest.param("srmp.host = '10.0.0.1'", "srmp.host is 10.0.0.1, which other", id="SRMP open"),
        pytest.param("mqqp.host = '0.0.0.0'", "mqqp.host is 0.0.0.0, which other computers", id="MQQP open"),
        pytest.param("names = ['a/b']", "names has 'a/b', which is not like host", id="no host name"),
        pytest.param("log_format = 'xml'", "log_format: Invalid enum value 'xml'", id="no form"),
        pytest.param("log_level = 'loud'", "log_level: Invalid enum value 'loud'", id="no level"),
        pytest.param("anonymous_may = ['all']", "anonymous_may: there is no act 'all' of anon", id="no act"),
        pytest.param("computer_name = ''", "computer_name has 1 to 256 characters, not 0", id="no name"),
        pytest.param("computer_name = 'a b'", "computer_name cannot contain ' '", id="bad name"),
        pytest.param("computer_name = 'a\\\\b'", "computer_name cannot contain", id="a path"),
        pytest.param("tls_key = '/k'", "tls_certificate and tls_key belong together", id="half of TLS"),
        pytest.param("data_tls_port = 1", "data_tls_port means nothing without tls_cert", id="a port alone"),
        pytest.param("data_tls_port = -1", "data_tls_port is 0 to 65535, not -1", id="negative TLS port"),
        pytest.param(
            "data_port = 7\ndata_tls_port = 7", "data_tls_port is 7, and so is data_port", id="one port twice"
        ),
        pytest.param("tls_client_ca = '/a'", "tls_client_ca means nothing without tls_cert", id="CA alone"),
        pytest.param("tls_client_required = true", "tls_client_required needs tls_client_ca", id="no CA"),
        pytest.param("srmp = 1", "srmp is a table, [srmp], not 1", id="no table"),
        pytest.param(
            "srmp.windw = 1", "there is no setting 'windw' in [srmp]; did you mean window?", id="srmp"
        ),
        pytest.param("srmp.window = '1'", "srmp.window: Expected `int`, got `str`", id="srmp type"),
        pytest.param("httpr = 1", "httpr is a table, [httpr], not 1", id="no table of HTTPR"),
        pytest.param("wsrm = 1", "wsrm is a table, [wsrm], not 1", id="no table of WS-RM"),
        pytest.param("wsrm.seed = 'a'", "there is no setting 'seed' in [wsrm]; these are", id="wsrm"),
        pytest.param("httpr.x = 1", "there is no setting 'x' in [httpr]; these are enabled", id="httpr"),
        pytest.param("multicast = 1", "multicast is a table, [multicast], not 1", id="no table of groups"),
        pytest.param("multicast.tll = 1", "no setting 'tll' in [multicast]; these are", id="multicast"),
        pytest.param("multicast.encapsulation = 'tcp'", "encapsulation: Invalid enum value 'tcp'", id="tcp"),
        pytest.param("multicast.ttl = 256", "multicast.ttl is 0 to 255, not 256", id="ttl"),
        pytest.param("srmp.https_port = 443", "srmp.https_port means nothing without tls_cert", id="no TLS"),
        pytest.param("folder = 1", "folder: Expected a path, got 1", id="no path"),
        pytest.param("folder = ''", "folder: Expected a path, got ''", id="empty path"),
        pytest.param("data_port = ", "are not TOML", id="not TOML"),
        pytest.param(
            "hardened_security = 'yes'", "hardened_security: Expected `bool`, got `str`", id="no truth"
        ),
        pytest.param("site = 'north'", "site: Invalid UUID", id="no identifier"),
        pytest.param("domain = 'a b'", "domain has 'a b', which is not a name such as", id="bad domain"),
        pytest.param(
            "directory_integrated = true\ndirectory_servers = ['-x']",
            "directory_servers has '-x', which is not a name",
            id="bad directory server",
        ),
        pytest.param(
            "directory_servers = ['dc1']",
            "directory_servers means nothing unless directory_integrated is true",
            id="directory servers alone",
        ),
        pytest.param(
            "directory_integrated = true\nmachine_sid = 'me'", "a SID looks like", id="no machine's SID"
        ),
        pytest.param(
            "[[users]]\nname = 'a'", "needs a token_sha256, a password_hash or an nt_hash", id="no token"
        ),
        pytest.param("[[users]]\nname = 'a'\ntoken_sha256 = 'x'", "64 hexadecimal digits", id="no hash"),
        pytest.param("[[users]]\ntoken = 'a'", "unknown field `token`", id="a token in the clear"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        load(written(tmp_path, text))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")
    file = written(tmp_path, "")
    with pytest.raises(UsageError, match="which is a file"):
        load(None, None, {"folder": file})


def test_the_environment_and_the_command_line_are_named_when_they_are_wrong() -> None:
    for variable, meant in (
        ("RELIQUARY_DATA_PROT", "did you mean RELIQUARY_DATA_PORT?"),
        ("RELIQUARY_LIMIT_RATE", "did you mean RELIQUARY_LIMITS_RATE?"),
        ("RELIQUARY_SRMP_HTTP_PROT", "did you mean RELIQUARY_SRMP_HTTP_PORT?"),
        ("RELIQUARY_COLOUR", "`reliquary config show --effective` lists all"),
    ):
        with pytest.raises(UsageError) as refused:
            load(None, {variable: "1"})
        assert str(refused.value) == f"environment: {variable} names no setting; {meant}"
    with pytest.raises(UsageError, match="environment: quota: Expected `int`"):
        load(None, {"RELIQUARY_QUOTA": "much"})
    with pytest.raises(UsageError, match="there is no setting 'colour'"):
        load(None, None, {"colour": "red"})


def test_multicast_can_be_set_by_the_environment() -> None:
    found = load(environment={"RELIQUARY_MULTICAST_TTL": "4", "RELIQUARY_MULTICAST_ENCAPSULATION": "raw"})
    assert found.multicast == MulticastOptions(ttl=4, encapsulation=Encapsulation.RAW)


def test_the_names_of_tables_stand_among_those_of_settings() -> None:
    tables = (
        "srmp",
        "httpr",
        "wsrm",
        "mqqp",
        "mqqb",
        "multicast",
        "history",
        "limits",
        "acts",
        "tracing",
        "peers",
        "users",
    )
    assert NAMES[-13:] == ("directory_servers", *tables)
    with pytest.raises(UsageError, match="there is no setting 'tables'; these are folder, data_host"):
        load(None, None, {"tables": ()})


def test_every_setting_of_the_environment_is_an_option_too() -> None:
    chosen = [
        "quota=7",
        "queues=a, b",
        "history.keep_days=2.5",
        "httpr.retry_ladder=1,2",
        "srmp.enabled=false",
    ]
    found = load(None, {"RELIQUARY_QUOTA": "5", "RELIQUARY_HISTORY_KEEP_DAYS": "9"}, None, chosen)
    assert (found.quota, found.queues, found.history.keep_days) == (7, ("a", "b"), 2.5)
    assert found.table(SrmpOptions).enabled is False
    assert load(None, None, {"quota": 8}, chosen).quota == 8


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("quota", "--set takes NAME=VALUE, such as history.keep_days=7, not 'quota'"),
        ("=1", "--set takes NAME=VALUE"),
        ("quota=much", "quota: Expected `int`"),
        ("colour=red", "there is no setting 'colour'"),
        ("fog.depth=1", "--set: there is no table 'fog'"),
        ("history.colour=red", "there is no setting 'colour' in [history]"),
        ("users=alice", "--set: users stand in the settings file alone"),
        ("httpr.peers=x", "--set: peers stand in the settings file alone"),
    ],
)
def test_malformed_options_are_refused(chosen: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        load(None, None, None, [chosen])


def test_a_wrong_user_is_refused_with_the_line_of_its_key(tmp_path: Path) -> None:
    file = written(tmp_path, "quota = 1\n[[users]]\nname = 'a'\npassword_hash = 'x'\n")
    with pytest.raises(UsageError, match=r"toml:4: users: password_hash of a is no hash of argon2id"):
        load(file)
