-- Wireshark dissector of [MS-MQQB], the Message Queuing Binary Protocol.
-- Made by `./dev docs` from src/reliquary/wire/packet/layouts.py and tools/mqqb_walk.lua.

local TCP_PORT, UDP_PORT = 1801, 3527
local mqqb = Proto("mqqb", "Message Queuing Binary Protocol")
local layouts = {}
layouts.base = { name = "BaseHeader", size = 16, fields = {
  { name = "VersionNumber", at = 0, size = 1, kind = "hex", proto = ProtoField.uint8("mqqb.base.versionnumber", "VersionNumber", base.HEX, nil), bits = {  } },
  { name = "Reserved", at = 1, size = 1, kind = "hex", proto = ProtoField.uint8("mqqb.base.reserved", "Reserved", base.HEX, nil), bits = {  } },
  { name = "Flags", at = 2, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.base.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint16("mqqb.base.flags.pr", "PR", base.DEC, nil, 0x7), ProtoField.uint16("mqqb.base.flags.in", "IN", base.DEC, nil, 0x8), ProtoField.uint16("mqqb.base.flags.sh", "SH", base.DEC, nil, 0x10), ProtoField.uint16("mqqb.base.flags.dh", "DH", base.DEC, nil, 0x20), ProtoField.uint16("mqqb.base.flags.tr", "TR", base.DEC, nil, 0x100) } },
  { name = "Signature", at = 4, size = 4, kind = "hex", proto = ProtoField.uint32("mqqb.base.signature", "Signature", base.HEX, nil), bits = {  } },
  { name = "PacketSize", at = 8, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.base.packetsize", "PacketSize", base.DEC, nil), bits = {  } },
  { name = "TimeToReachQueue", at = 12, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.base.timetoreachqueue", "TimeToReachQueue", base.DEC, nil), bits = {  } },
} }
layouts.internal = { name = "InternalHeader", size = 4, fields = {
  { name = "Reserved", at = 0, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.internal.reserved", "Reserved", base.HEX, nil), bits = {  } },
  { name = "Flags", at = 2, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.internal.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint16("mqqb.internal.flags.pt", "PT", base.DEC, { [0x1] = "SessionAck", [0x2] = "EstablishConnection", [0x3] = "ConnectionParameters" }, 0xf), ProtoField.uint16("mqqb.internal.flags.cs", "CS", base.DEC, nil, 0x10) } },
} }
layouts.establish = { name = "EstablishConnection", size = 552, fields = {
  { name = "ClientGuid", at = 0, size = 16, kind = "guid", proto = ProtoField.guid("mqqb.establish.clientguid", "ClientGuid"), bits = {  } },
  { name = "ServerGuid", at = 16, size = 16, kind = "guid", proto = ProtoField.guid("mqqb.establish.serverguid", "ServerGuid"), bits = {  } },
  { name = "TimeStamp", at = 32, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.establish.timestamp", "TimeStamp", base.DEC, nil), bits = {  } },
  { name = "OperatingSystem", at = 36, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.establish.operatingsystem", "OperatingSystem", base.HEX, nil), bits = { ProtoField.uint16("mqqb.establish.operatingsystem.re", "RE", base.DEC, nil, 0xff), ProtoField.uint16("mqqb.establish.operatingsystem.se", "SE", base.DEC, nil, 0x100), ProtoField.uint16("mqqb.establish.operatingsystem.os", "OS", base.DEC, nil, 0x200), ProtoField.uint16("mqqb.establish.operatingsystem.qs", "QS", base.DEC, nil, 0x400) } },
  { name = "Reserved", at = 38, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.establish.reserved", "Reserved", base.HEX, nil), bits = {  } },
  { name = "Padding", at = 40, size = 512, kind = "bytes", proto = ProtoField.bytes("mqqb.establish.padding", "Padding"), bits = {  } },
} }
layouts.parameters = { name = "ConnectionParameters", size = 12, fields = {
  { name = "RecoverableAckTimeout", at = 0, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.parameters.recoverableacktimeout", "RecoverableAckTimeout", base.DEC, nil), bits = {  } },
  { name = "AckTimeout", at = 4, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.parameters.acktimeout", "AckTimeout", base.DEC, nil), bits = {  } },
  { name = "Reserved", at = 8, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.parameters.reserved", "Reserved", base.HEX, nil), bits = {  } },
  { name = "WindowSize", at = 10, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.parameters.windowsize", "WindowSize", base.DEC, nil), bits = {  } },
} }
layouts.session = { name = "SessionHeader", size = 16, fields = {
  { name = "AckSequenceNumber", at = 0, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.session.acksequencenumber", "AckSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "RecoverableMsgAckSeqNumber", at = 2, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.session.recoverablemsgackseqnumber", "RecoverableMsgAckSeqNumber", base.DEC, nil), bits = {  } },
  { name = "RecoverableMsgAckFlags", at = 4, size = 4, kind = "hex", proto = ProtoField.uint32("mqqb.session.recoverablemsgackflags", "RecoverableMsgAckFlags", base.HEX, nil), bits = {  } },
  { name = "UserMsgSequenceNumber", at = 8, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.session.usermsgsequencenumber", "UserMsgSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "RecoverableMsgSeqNumber", at = 10, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.session.recoverablemsgseqnumber", "RecoverableMsgSeqNumber", base.DEC, nil), bits = {  } },
  { name = "WindowSize", at = 12, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.session.windowsize", "WindowSize", base.DEC, nil), bits = {  } },
  { name = "Reserved", at = 14, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.session.reserved", "Reserved", base.HEX, nil), bits = {  } },
} }
layouts.user = { name = "UserHeader", size = 48, fields = {
  { name = "SourceQueueManager", at = 0, size = 16, kind = "guid", proto = ProtoField.guid("mqqb.user.sourcequeuemanager", "SourceQueueManager"), bits = {  } },
  { name = "QueueManagerAddress", at = 16, size = 16, kind = "guid", proto = ProtoField.guid("mqqb.user.queuemanageraddress", "QueueManagerAddress"), bits = {  } },
  { name = "TimeToBeReceived", at = 32, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.user.timetobereceived", "TimeToBeReceived", base.DEC, nil), bits = {  } },
  { name = "SentTime", at = 36, size = 4, kind = "time", proto = ProtoField.absolute_time("mqqb.user.senttime", "SentTime", base.UTC), bits = {  } },
  { name = "MessageID", at = 40, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.user.messageid", "MessageID", base.DEC, nil), bits = {  } },
  { name = "Flags", at = 44, size = 4, kind = "hex", proto = ProtoField.uint32("mqqb.user.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint32("mqqb.user.flags.rc", "RC", base.DEC, nil, 0x1f), ProtoField.uint32("mqqb.user.flags.dm", "DM", base.DEC, { [0x0] = "express", [0x1] = "recoverable" }, 0x60), ProtoField.uint32("mqqb.user.flags.jn", "JN", base.DEC, nil, 0x100), ProtoField.uint32("mqqb.user.flags.jp", "JP", base.DEC, nil, 0x200), ProtoField.uint32("mqqb.user.flags.dq", "DQ", base.DEC, { [0x0] = "none", [0x1] = "as the administration queue", [0x2] = "private, on the source", [0x3] = "private, on the destination", [0x4] = "private, on the host of the administration queue", [0x5] = "public", [0x6] = "private", [0x7] = "direct" }, 0x1c00), ProtoField.uint32("mqqb.user.flags.aq", "AQ", base.DEC, { [0x0] = "none", [0x1] = "as the administration queue", [0x2] = "private, on the source", [0x3] = "private, on the destination", [0x4] = "private, on the host of the administration queue", [0x5] = "public", [0x6] = "private", [0x7] = "direct" }, 0xe000), ProtoField.uint32("mqqb.user.flags.rq", "RQ", base.DEC, { [0x0] = "none", [0x1] = "as the administration queue", [0x2] = "private, on the source", [0x3] = "private, on the destination", [0x4] = "private, on the host of the administration queue", [0x5] = "public", [0x6] = "private", [0x7] = "direct" }, 0x70000), ProtoField.uint32("mqqb.user.flags.sh", "SH", base.DEC, nil, 0x80000), ProtoField.uint32("mqqb.user.flags.th", "TH", base.DEC, nil, 0x100000), ProtoField.uint32("mqqb.user.flags.mp", "MP", base.DEC, nil, 0x200000), ProtoField.uint32("mqqb.user.flags.ct", "CT", base.DEC, nil, 0x400000), ProtoField.uint32("mqqb.user.flags.mq", "MQ", base.DEC, nil, 0x800000), ProtoField.uint32("mqqb.user.flags.ah", "AH", base.DEC, nil, 0x2000000), ProtoField.uint32("mqqb.user.flags.hh", "HH", base.DEC, nil, 0x10000000) } },
} }
layouts.transaction = { name = "TransactionHeader", size = 20, fields = {
  { name = "Flags", at = 0, size = 4, kind = "hex", proto = ProtoField.uint32("mqqb.transaction.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint32("mqqb.transaction.flags.cg", "CG", base.DEC, nil, 0x1), ProtoField.uint32("mqqb.transaction.flags.fa", "FA", base.DEC, nil, 0x2), ProtoField.uint32("mqqb.transaction.flags.fm", "FM", base.DEC, nil, 0x4), ProtoField.uint32("mqqb.transaction.flags.lm", "LM", base.DEC, nil, 0x8), ProtoField.uint32("mqqb.transaction.flags.id", "ID", base.DEC, nil, 0xfffff0) } },
  { name = "TxSequenceID.Ordinal", at = 4, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.transaction.txsequenceid_ordinal", "TxSequenceID.Ordinal", base.DEC, nil), bits = {  } },
  { name = "TxSequenceID.TimeStamp", at = 8, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.transaction.txsequenceid_timestamp", "TxSequenceID.TimeStamp", base.DEC, nil), bits = {  } },
  { name = "TxSequenceNumber", at = 12, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.transaction.txsequencenumber", "TxSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "PreviousTxSequenceNumber", at = 16, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.transaction.previoustxsequencenumber", "PreviousTxSequenceNumber", base.DEC, nil), bits = {  } },
} }
layouts.security = { name = "SecurityHeader", size = 16, fields = {
  { name = "Flags", at = 0, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.security.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint16("mqqb.security.flags.st", "ST", base.DEC, nil, 0xf), ProtoField.uint16("mqqb.security.flags.au", "AU", base.DEC, nil, 0x10), ProtoField.uint16("mqqb.security.flags.eb", "EB", base.DEC, nil, 0x20), ProtoField.uint16("mqqb.security.flags.de", "DE", base.DEC, nil, 0x40), ProtoField.uint16("mqqb.security.flags.ai", "AI", base.DEC, nil, 0x80), ProtoField.uint16("mqqb.security.flags.as", "AS", base.DEC, nil, 0xf00) } },
  { name = "SenderIdSize", at = 2, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.security.senderidsize", "SenderIdSize", base.DEC, nil), bits = {  } },
  { name = "EncryptionKeySize", at = 4, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.security.encryptionkeysize", "EncryptionKeySize", base.DEC, nil), bits = {  } },
  { name = "SignatureSize", at = 6, size = 2, kind = "number", proto = ProtoField.uint16("mqqb.security.signaturesize", "SignatureSize", base.DEC, nil), bits = {  } },
  { name = "SenderCertSize", at = 8, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.security.sendercertsize", "SenderCertSize", base.DEC, nil), bits = {  } },
  { name = "ProviderInfoSize", at = 12, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.security.providerinfosize", "ProviderInfoSize", base.DEC, nil), bits = {  } },
} }
layouts.properties = { name = "MessagePropertiesHeader", size = 56, fields = {
  { name = "Flags", at = 0, size = 1, kind = "hex", proto = ProtoField.uint8("mqqb.properties.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint8("mqqb.properties.flags.pa", "PA", base.DEC, nil, 0x1), ProtoField.uint8("mqqb.properties.flags.pr", "PR", base.DEC, nil, 0x2), ProtoField.uint8("mqqb.properties.flags.na", "NA", base.DEC, nil, 0x4), ProtoField.uint8("mqqb.properties.flags.nr", "NR", base.DEC, nil, 0x8) } },
  { name = "LabelLength", at = 1, size = 1, kind = "number", proto = ProtoField.uint8("mqqb.properties.labellength", "LabelLength", base.DEC, nil), bits = {  } },
  { name = "MessageClass", at = 2, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.properties.messageclass", "MessageClass", base.HEX, { [0x0] = "NORMAL", [0x1] = "REPORT", [0x2] = "ACK_REACH_QUEUE", [0xff] = "ORDER_ACK", [0x4000] = "ACK_RECEIVE", [0x8000] = "NACK_BAD_DEST_QUEUE", [0x8001] = "NACK_PURGED", [0x8002] = "NACK_REACH_QUEUE_TIMEOUT", [0x8003] = "NACK_QUEUE_EXCEED_QUOTA", [0x8004] = "NACK_ACCESS_DENIED", [0x8005] = "NACK_HOP_COUNT_EXCEEDED", [0x8006] = "NACK_BAD_SIGNATURE", [0x8007] = "NACK_BAD_ENCRYPTION", [0x8008] = "NACK_COULD_NOT_ENCRYPT", [0x8009] = "NACK_NOT_TRANSACTIONAL_QUEUE", [0x800a] = "NACK_NOT_TRANSACTIONAL_MESSAGE", [0x800b] = "NACK_UNSUPPORTED_CRYPTO_PROVIDER", [0x800c] = "NACK_SOURCE_COMPUTER_GUID_CHANGED", [0xc000] = "NACK_QUEUE_DELETED", [0xc001] = "NACK_QUEUE_PURGED", [0xc002] = "NACK_RECEIVE_TIMEOUT", [0xc003] = "NACK_RECEIVE_TIMEOUT_AT_SENDER", [0xc004] = "NACK_RECEIVE_REJECTED" }), bits = {  } },
  { name = "CorrelationID", at = 4, size = 20, kind = "bytes", proto = ProtoField.bytes("mqqb.properties.correlationid", "CorrelationID"), bits = {  } },
  { name = "BodyType", at = 24, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.properties.bodytype", "BodyType", base.DEC, nil), bits = {  } },
  { name = "ApplicationTag", at = 28, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.properties.applicationtag", "ApplicationTag", base.DEC, nil), bits = {  } },
  { name = "MessageSize", at = 32, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.properties.messagesize", "MessageSize", base.DEC, nil), bits = {  } },
  { name = "AllocationBodySize", at = 36, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.properties.allocationbodysize", "AllocationBodySize", base.DEC, nil), bits = {  } },
  { name = "PrivacyLevel", at = 40, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.properties.privacylevel", "PrivacyLevel", base.DEC, nil), bits = {  } },
  { name = "HashAlgorithm", at = 44, size = 4, kind = "hex", proto = ProtoField.uint32("mqqb.properties.hashalgorithm", "HashAlgorithm", base.HEX, nil), bits = {  } },
  { name = "EncryptionAlgorithm", at = 48, size = 4, kind = "hex", proto = ProtoField.uint32("mqqb.properties.encryptionalgorithm", "EncryptionAlgorithm", base.HEX, nil), bits = {  } },
  { name = "ExtensionSize", at = 52, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.properties.extensionsize", "ExtensionSize", base.DEC, nil), bits = {  } },
} }
layouts.order = { name = "OrderAck body", size = 36, fields = {
  { name = "TxSequenceID.Ordinal", at = 0, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.order.txsequenceid_ordinal", "TxSequenceID.Ordinal", base.DEC, nil), bits = {  } },
  { name = "TxSequenceID.TimeStamp", at = 4, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.order.txsequenceid_timestamp", "TxSequenceID.TimeStamp", base.DEC, nil), bits = {  } },
  { name = "TxSequenceNumber", at = 8, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.order.txsequencenumber", "TxSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "TxPreviousSequenceNumber", at = 12, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.order.txprevioussequencenumber", "TxPreviousSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "Reserved", at = 16, size = 20, kind = "bytes", proto = ProtoField.bytes("mqqb.order.reserved", "Reserved"), bits = {  } },
} }
layouts.final = { name = "FinalAck body", size = 36, fields = {
  { name = "TxSequenceID.Ordinal", at = 0, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.final.txsequenceid_ordinal", "TxSequenceID.Ordinal", base.DEC, nil), bits = {  } },
  { name = "TxSequenceID.TimeStamp", at = 4, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.final.txsequenceid_timestamp", "TxSequenceID.TimeStamp", base.DEC, nil), bits = {  } },
  { name = "TxSequenceNumber", at = 8, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.final.txsequencenumber", "TxSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "TxPreviousSequenceNumber", at = 12, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.final.txprevioussequencenumber", "TxPreviousSequenceNumber", base.DEC, nil), bits = {  } },
  { name = "SourceGUID", at = 16, size = 16, kind = "guid", proto = ProtoField.guid("mqqb.final.sourceguid", "SourceGUID"), bits = {  } },
  { name = "MessageID", at = 32, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.final.messageid", "MessageID", base.DEC, nil), bits = {  } },
} }
layouts.ping = { name = "Ping", size = 24, fields = {
  { name = "Flags", at = 0, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.ping.flags", "Flags", base.HEX, nil), bits = { ProtoField.uint16("mqqb.ping.flags.rc", "RC", base.DEC, nil, 0x1), ProtoField.uint16("mqqb.ping.flags.rf", "RF", base.DEC, nil, 0x2) } },
  { name = "Signature", at = 2, size = 2, kind = "hex", proto = ProtoField.uint16("mqqb.ping.signature", "Signature", base.HEX, nil), bits = {  } },
  { name = "Cookie", at = 4, size = 4, kind = "number", proto = ProtoField.uint32("mqqb.ping.cookie", "Cookie", base.DEC, nil), bits = {  } },
  { name = "QMGuid", at = 8, size = 16, kind = "guid", proto = ProtoField.guid("mqqb.ping.qmguid", "QMGuid"), bits = {  } },
} }
mqqb.fields = {}
local all = {}
for _, layout in pairs(layouts) do
  for _, field in ipairs(layout.fields) do
    all[#all + 1] = field.proto
    for _, bits in ipairs(field.bits) do all[#all + 1] = bits end
  end
end

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
