"""XML documents for the tests of silver: everything that a document can have, and texts of every type."""

from __future__ import annotations

ENVELOPE = (
    '<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">'
    '<s:Header><t:id xmlns:t="urn:t" s:mustUnderstand="1">7</t:id></s:Header><s:Body>'
    '<o:order xmlns:o="urn:o">'
    "<o:customer>C-1</o:customer><o:line><o:item>lamp</o:item><o:price>12.50</o:price></o:line><o:line/>"
    "</o:order></s:Body></s:Envelope>"
)
FAULT = (
    '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>s:Server'
    "</faultcode><faultstring>no lamps</faultstring></s:Fault></s:Body></s:Envelope>"
)
_WORDS = """
1 -1 +1 01 1.0 1.50 1E-3 .5 -.5 -0 -0.0 00.5 99999999999999999999 9223372036854775807 9223372036854775808
-9223372036854775808 12345678901234567890.12345 1,000.50 \u0661 NaN Infinity 1d 0x10 1_000 - + --1 1- ,
true TRUE False yes null 2026-11-15 2026-11-15T12:00:00Z 12:00:00 1.5e300 1e400
"""
NUMBERS = [
    *_WORDS.split(),
    "9" * 38,
    "9" * 39,
    "0." + "0" * 37 + "1",
    "0." + "0" * 38 + "1",
    "x" * 100,
    " 1 2 ",
]
AS_FROM_XML = [
    ENVELOPE,
    FAULT,
    "<a>" + "".join(f"<n>{number}</n>" for number in NUMBERS) + "</a>",
    "<a" + "".join(f' n{place}="{number}"' for place, number in enumerate(NUMBERS)) + "/>",
    '<a x="1" y="t"><b>3</b></a>',
    "<a x='1' y='\"'><b>3</b></a>",
    '<a x=" " y=" pad " z=""/>',
    '<a x="p\tq\nr"/>',
    '<a xmlns="urn:x" xmlns:o="urn:o" o:at="v"><o:b xmlns:q="urn:q" q:w="1">3</o:b></a>',
    '<o:a xmlns:o="u"><o:b xmlns:o="u">1</o:b><c xmlns=""/></o:a>',
    '<a><o:b xmlns:o="u">1</o:b><p:b xmlns:p="v">2</p:b></a>',
    '<a xml:lang="en" xml:space="preserve"> x </a>',
    '<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><b i:nil="true"/></a>',
    "<a><b>1</b><b>2</b><c/></a>",
    "<a><b>1</b><c>2</c><b>3</b></a>",
    '<a><b>1</b><b/><b x="1"/></a>',
    '<a b="1"><_b>2</_b></a>',
    "<a>text<b>1</b>more</a>",
    "<a>1<b>1</b>2</a>",
    "<a>\n  <b>1</b>\n  text\n  <b>2</b>\n</a>",
    '<a><b x="1"> <c>1</c> </b></a>',
    "<a>text</a>",
    "<a>  12 </a>",
    "<a/>",
    "<a></a>",
    "<a>  </a>",
    '<a x="1">t</a>',
    '<a><b>  pad  </b><c>\n</c><d x="1"></d><e x="1"> </e></a>',
    "<a><![CDATA[ <x> ]]></a>",
    "<a>a<![CDATA[b]]>c</a>",
    "<a><b><![CDATA[12]]></b><c><![CDATA[]]></c></a>",
    "<a>&lt;x&gt; &amp; &#65;&#x42; &quot;%s %% </a>",
    '<a x="&lt;&#10;q > r"/>',
    "<a>1 > 0</a>",
    "<a>\u00e4\u20ac\U0001f600\u00a0</a>",
    "<a>\u00a0</a>",
    '<\u00e4 \u00f6="1"/>',
    "<a>x\r\ny</a>",
    "<!-- c --><a>1<!-- d --></a><?pi?>",
    "<a><_VALUE>3</_VALUE></a>",
]
"""Documents of which `from_xml` of Spark and the lake make equal values."""
KEPT = {
    "<a>one<!-- c -->two</a>": "onetwo",
    "<a>one<?pi x?>two</a>": "onetwo",
    "<a><_VALUE>3</_VALUE>x</a>": {"_VALUE": [3, "x"]},
    "<a><B>1</B><b>2</b></a>": {"B": 1, "b": 2},
    '<a A="1" a="2"/>': {"_A": 1, "_a": 2},
}
"""Documents of which `from_xml` loses something, and what the lake makes of them."""
WHOLE = {"<a>5.</a>": 5, "<a>1e3</a>": 1000, "<a>1,000</a>": 1000}
"""Numbers that `from_xml` makes decimals without digits behind the point, and the lake integers."""
