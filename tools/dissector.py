"""The Wireshark dissector of MQQB, made from the tables that the codec is made from.

    wire/packet/layouts.py   names, sizes and bits of fields  --.
    MessageClass             names of classes                   |--> tools/mqqb.lua
    tools/mqqb_walk.lua      which header follows which       --'

`./dev docs` writes it, `./dev docs --check` compares.  To try it:

    tshark -X lua_script:tools/mqqb.lua -r capture.pcap -O mqqb
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from reliquary.protocols.mqqb.settings import PING_PORT, PORT
from reliquary.queueing.model.message import MessageClass
from reliquary.wire.packet import layouts
from reliquary.wire.packet.layouts import Field, FieldKind, Layout

PAGE = Path("tools/mqqb.lua")
WALK = Path("tools/mqqb_walk.lua")
TABLES = {
    "base": layouts.BASE,
    "internal": layouts.INTERNAL,
    "establish": layouts.ESTABLISH_CONNECTION,
    "parameters": layouts.CONNECTION_PARAMETERS,
    "session": layouts.SESSION,
    "user": layouts.USER,
    "transaction": layouts.TRANSACTION,
    "security": layouts.SECURITY,
    "properties": layouts.PROPERTIES,
    "order": layouts.ORDER_BODY,
    "final": layouts.FINAL_BODY,
    "ping": layouts.PING,
}
"""The layouts by the names that the walk uses."""
CLASS_FIELD = "MessageClass"
CLASSES = {each.value: each.name for each in MessageClass}


def page(root: Path) -> str:
    """Return the text of the dissector."""
    return "\n".join([*_head(), *_fields(), "", (root / WALK).read_text().rstrip(), ""])


def _head() -> Iterator[str]:
    yield "-- Wireshark dissector of [MS-MQQB], the Message Queuing Binary Protocol."
    yield "-- Made by `./dev docs` from src/reliquary/wire/packet/layouts.py and tools/mqqb_walk.lua."
    yield ""
    yield f"local TCP_PORT, UDP_PORT = {PORT}, {PING_PORT}"
    yield 'local mqqb = Proto("mqqb", "Message Queuing Binary Protocol")'


def _fields() -> Iterator[str]:
    """Yield the table `layouts`, and a ProtoField for each field and for each group of bits."""
    yield "local layouts = {}"
    for name, layout in TABLES.items():
        yield f'layouts.{name} = {{ name = "{layout.name}", size = {layout.struct.size}, fields = {{'
        for field in layout.fields:
            yield f"  {_field(name, layout, field)},"
        yield "} }"
    yield "mqqb.fields = {}"
    yield "local all = {}"
    yield "for _, layout in pairs(layouts) do"
    yield "  for _, field in ipairs(layout.fields) do"
    yield "    all[#all + 1] = field.proto"
    yield "    for _, bits in ipairs(field.bits) do all[#all + 1] = bits end"
    yield "  end"
    yield "end"


def _field(name: str, layout: Layout, field: Field) -> str:
    path = f"mqqb.{name}.{_word(field.name)}"
    values = CLASSES if field.name == CLASS_FIELD else {}
    bits = ", ".join(
        f'ProtoField.uint{8 * field.size}("{path}.{each.name.lower()}", "{each.name}", base.DEC, '
        f"{_values(each.values)}, {each.mask:#x})"
        for each in field.bits
    )
    return (
        f'{{ name = "{field.name}", at = {layout.offset(field.name)}, size = {field.size}, '
        f'kind = "{field.kind.value}", proto = {_proto(path, field, values)}, bits = {{ {bits} }} }}'
    )


def _proto(path: str, field: Field, values: Mapping[int, str]) -> str:
    named = f'"{path}", "{field.name}"'
    match field.kind:
        case FieldKind.GUID:
            return f"ProtoField.guid({named})"
        case FieldKind.BYTES:
            return f"ProtoField.bytes({named})"
        case FieldKind.TIME:
            return f"ProtoField.absolute_time({named}, base.UTC)"
        case FieldKind.NUMBER | FieldKind.HEX:
            form = "base.HEX" if field.kind is FieldKind.HEX else "base.DEC"
            return f"ProtoField.uint{8 * field.size}({named}, {form}, {_values(values)})"


def _values(values: Mapping[int, str]) -> str:
    if not values:
        return "nil"
    return "{ " + ", ".join(f'[{number:#x}] = "{text}"' for number, text in values.items()) + " }"


def _word(name: str) -> str:
    """Return the name of a field as a filter has it."""
    return name.replace(".", "_").lower()
