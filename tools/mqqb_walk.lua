-- Which header follows which.  The fields are in `layouts`, above.

local texts = {
  queue = ProtoField.string("mqqb.queue", "Queue"),
  label = ProtoField.string("mqqb.label", "Label"),
  body = ProtoField.bytes("mqqb.body", "Body"),
  extension = ProtoField.bytes("mqqb.extension", "Extension"),
  part = ProtoField.bytes("mqqb.part", "Part"),
  rest = ProtoField.bytes("mqqb.rest", "Further headers"),
}
for _, field in pairs(texts) do all[#all + 1] = field end
mqqb.fields = all

local malformed = ProtoExpert.new("mqqb.malformed", "The packet breaks its format",
  expert.group.MALFORMED, expert.severity.ERROR)
mqqb.experts = { malformed }

local HEAD, SIGNATURE, LARGEST = layouts.base.size, 0x524f494c, 0x400000
local IN, SH, DH = 0x08, 0x10, 0x20
local SECURITY, TRANSACTION, CONNECTOR = 0x00080000, 0x00100000, 0x00400000
local KINDS = { [1] = "SessionAck", [2] = "EstablishConnection", [3] = "ConnectionParameters" }

-- Add all fields of a layout at an offset, and return the offset behind them.
local function show(tree, tvb, layout, at)
  local branch = tree:add(mqqb, tvb(at, layout.size), layout.name)
  for _, field in ipairs(layout.fields) do
    local range = tvb(at + field.at, field.size)
    local item
    if field.kind == "bytes" then
      item = branch:add(field.proto, range)
    elseif field.kind == "time" then
      item = branch:add(field.proto, range, NSTime.new(range:le_uint(), 0))
    else
      item = branch:add_le(field.proto, range)
    end
    for _, bits in ipairs(field.bits) do item:add_le(bits, range) end
  end
  return at + layout.size, branch
end

local function padded(size) return size + (4 - size % 4) % 4 end

-- Add a queue of a kind that the flags say, and return the offset behind it and its name.
local function queue(tree, tvb, at, kind, what)
  if kind == 0 or kind == 1 then return at, nil end
  if kind == 5 then
    tree:add(texts.part, tvb(at, 16)):set_text(what .. ": public queue")
    return at + 16, "PUBLIC"
  elseif kind == 6 then
    tree:add(texts.part, tvb(at, 20)):set_text(what .. ": private queue")
    return at + 20, "PRIVATE"
  elseif kind == 7 then
    local size = tvb(at, 2):le_uint()
    local name = tvb(at + 2, size - 2):le_ustring()
    tree:add(texts.queue, tvb(at, 2 + size), name):set_text(what .. ": DIRECT=" .. name)
    return at + padded(2 + size), "DIRECT=" .. name
  end
  local name = string.format("PRIVATE number %d", tvb(at, 4):le_uint())
  tree:add(texts.queue, tvb(at, 4), name):set_text(what .. ": " .. name)
  return at + 4, name
end

local function security(tree, tvb, at)
  local sizes = { tvb(at + 2, 2):le_uint(), tvb(at + 4, 2):le_uint(), tvb(at + 6, 2):le_uint(),
    tvb(at + 8, 4):le_uint(), tvb(at + 12, 4):le_uint() }
  local names = { "Sender", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo" }
  local behind, branch = show(tree, tvb, layouts.security, at)
  for number, size in ipairs(sizes) do
    if size > 0 then
      branch:add(texts.part, tvb(behind, size)):set_text(string.format("%s: %d bytes", names[number], size))
    end
    behind = behind + padded(size)
  end
  return behind
end

-- Add the properties with label and body; acknowledgements of order show their body field by field.
local function properties(tree, tvb, at)
  local units, class = tvb(at + 1, 1):uint(), tvb(at + 2, 2):le_uint()
  local body, room, extension = tvb(at + 32, 4):le_uint(), tvb(at + 36, 4):le_uint(), tvb(at + 52, 4):le_uint()
  local behind, branch = show(tree, tvb, layouts.properties, at)
  local label = ""
  if units > 0 then
    label = tvb(behind, 2 * units - 2):le_ustring()
    branch:add(texts.label, tvb(behind, 2 * units), label)
  end
  behind = behind + 2 * units
  if extension > 0 then branch:add(texts.extension, tvb(behind, extension)) end
  behind = behind + extension
  local kind = "UserMessage"
  if label == "QM Ordering Ack" and body == layouts.order.size then
    kind = class == 0x00ff and "OrderAck" or (class >= 0x4000 and "FinalAck" or kind)
  end
  if kind == "OrderAck" then
    show(branch, tvb, layouts.order, behind)
  elseif kind == "FinalAck" then
    show(branch, tvb, layouts.final, behind)
  elseif body > 0 then
    branch:add(texts.body, tvb(behind, body))
  end
  return at + padded(behind + room - at), kind
end

local function message(tree, tvb, pinfo, flags, size)
  local word = tvb(HEAD + 44, 4):le_uint()
  local at, branch = show(tree, tvb, layouts.user, HEAD)
  local name
  at, name = queue(branch, tvb, at, math.floor(word / 0x400) % 8, "Destination")
  at = queue(branch, tvb, at, math.floor(word / 0x2000) % 8, "Administration")
  at = queue(branch, tvb, at, math.floor(word / 0x10000) % 8, "Response")
  if bit.band(word, CONNECTOR) ~= 0 then at = at + 16 end
  local number
  if bit.band(word, TRANSACTION) ~= 0 then
    number = tvb(at + 12, 4):le_uint()
    local has_connector = bit.band(tvb(at, 4):le_uint(), 1) ~= 0
    at = show(tree, tvb, layouts.transaction, at) + (has_connector and 16 or 0)
  end
  if bit.band(word, SECURITY) ~= 0 then at = security(tree, tvb, at) end
  local kind
  at, kind = properties(tree, tvb, at)
  if at < size then tree:add(texts.rest, tvb(at, size - at)) end
  local text = kind .. " to " .. (name or "nowhere")
  if number then text = text .. " tx " .. number end
  return text
end

local function internal(tree, tvb, flags)
  local kind = tvb(HEAD + 2, 2):le_uint() % 16
  local at = show(tree, tvb, layouts.internal, HEAD)
  if kind == 1 then
    show(tree, tvb, layouts.session, at)
    return string.format("SessionAck %d", tvb(at, 2):le_uint())
  elseif kind == 2 then
    show(tree, tvb, layouts.establish, at)
  elseif kind == 3 then
    show(tree, tvb, layouts.parameters, at)
  end
  local refused = bit.band(tvb(HEAD + 2, 2):le_uint(), 0x10) ~= 0
  return (KINDS[kind] or "unknown packet") .. (refused and " refused" or "")
end

local function length(tvb, pinfo, offset)
  local flags, size = tvb(offset + 2, 2):le_uint(), tvb(offset + 8, 4):le_uint()
  if tvb(offset, 1):uint() ~= 0x10 or tvb(offset + 4, 4):le_uint() ~= SIGNATURE or size > LARGEST then
    return tvb:len() - offset
  end
  if bit.band(flags, SH) == 0 then return math.max(size, HEAD) end
  if bit.band(flags, IN) ~= 0 then return math.max(size, 36) end
  return size + layouts.session.size
end

local function packet(tvb, pinfo, root)
  pinfo.cols.protocol = "MQQB"
  local tree = root:add(mqqb, tvb())
  if tvb(0, 1):uint() ~= 0x10 or tvb(4, 4):le_uint() ~= SIGNATURE then
    tree:add_proto_expert_info(malformed)
    return tvb:len()
  end
  local flags, size = tvb(2, 2):le_uint(), tvb(8, 4):le_uint()
  show(tree, tvb, layouts.base, 0)
  local text
  if bit.band(flags, IN) ~= 0 then
    text = internal(tree, tvb, flags)
  else
    text = message(tree, tvb, pinfo, flags, size)
    if bit.band(flags, SH) ~= 0 then show(tree, tvb, layouts.session, size) end
  end
  tree:append_text(", " .. text)
  if pinfo.cols.info then pinfo.cols.info:append(" [" .. text .. "]") end
  return tvb:len()
end

function mqqb.dissector(tvb, pinfo, root)
  if pinfo.port_type == 3 then -- UDP
    if tvb:len() ~= layouts.ping.size then return 0 end
    pinfo.cols.protocol = "MQQB"
    show(root:add(mqqb, tvb(), "Message Queuing ping"), tvb, layouts.ping, 0)
    return tvb:len()
  end
  dissect_tcp_pdus(tvb, root, HEAD, length, packet)
  return tvb:len()
end

DissectorTable.get("tcp.port"):add(TCP_PORT, mqqb)
DissectorTable.get("udp.port"):add(UDP_PORT, mqqb)
