"""XMLBIF: the standard document type, hostile XML, and what is refused."""

import pytest

from bestdag.errors import FormatError
from bestdag.network import xmlbif
from tests.network.examples import small_network

# The document type of the standard.
DOCTYPE = """<!DOCTYPE BIF [
    <!ELEMENT BIF ( NETWORK )*>
          <!ATTLIST BIF VERSION CDATA #REQUIRED>
    <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
    <!ELEMENT NAME (#PCDATA)>
    <!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
          <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
    <!ELEMENT OUTCOME (#PCDATA)>
    <!ELEMENT DEFINITION ( FOR | GIVEN | TABLE | PROPERTY )* >
    <!ELEMENT FOR (#PCDATA)>
    <!ELEMENT GIVEN (#PCDATA)>
    <!ELEMENT TABLE (#PCDATA)>
    <!ELEMENT PROPERTY (#PCDATA)>
]>"""
BODY = """<BIF VERSION="0.3"><NETWORK><NAME>grass &amp; rain</NAME>
<PROPERTY>author = me</PROPERTY>
<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><GIVEN>wind</GIVEN>
  <TABLE><!-- rain=no --> .9 .1 .8 .2 .7 .3 <!-- rain=yes --> 0 1 0.25 0.75 1e-1 9e-1</TABLE>
</DEFINITION>
<VARIABLE TYPE="nature"><NAME> rain </NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>
  <PROPERTY>position = (7, 9)</PROPERTY></VARIABLE>
<VARIABLE><NAME>wind</NAME><OUTCOME>calm</OUTCOME><OUTCOME>storm</OUTCOME>
  <OUTCOME>gale &gt; 9</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>dry</OUTCOME><OUTCOME>wet</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE><PROPERTY>guess</PROPERTY></DEFINITION>
<DEFINITION><FOR>wind</FOR><TABLE>0.5
 0.25 0.25</TABLE></DEFINITION>
</NETWORK></BIF>"""
FILE = f'<?xml version="1.0" encoding="US-ASCII"?>\n<!-- a comment -->\n{DOCTYPE}\n{BODY}\n'


def parse(text):
    return xmlbif.parse(text.encode(), "x.xml")


def test_the_last_parent_runs_fastest():
    network = parse(FILE)
    assert network.name == "grass & rain"
    assert network.names == ("rain", "wind", "wet")
    assert network.table("wind").child.states == ("calm", "storm", "gale > 9")
    assert network.table("wet").row(rain="no", wind="gale > 9").tolist() == [0.7, 0.3]
    assert network.table("wet").row(rain="yes", wind="calm").tolist() == [0.0, 1.0]
    assert network.properties == ("author = me",)
    assert network.properties_of("rain") == ("position = (7, 9)", "guess")
    assert parse(xmlbif.render(network).decode()) == network


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "cp1252"])
def test_other_encodings(encoding):
    text = BODY.replace("grass", "Größe")
    data = f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding)
    assert xmlbif.parse(data).name == "Größe & rain"


def test_text_of_the_small_network():
    assert xmlbif.render(small_network()).decode() == (
        '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n'
        "<NAME>small one</NAME>\n  <PROPERTY>author = me</PROPERTY>\n"
        '<VARIABLE TYPE="nature">\n  <NAME>rain</NAME>\n  <OUTCOME>no</OUTCOME>\n'
        "  <OUTCOME>yes</OUTCOME>\n  <PROPERTY>position = (7, 9)</PROPERTY>\n</VARIABLE>\n"
        '<VARIABLE TYPE="nature">\n  <NAME>wet_grass</NAME>\n  <OUTCOME>dry</OUTCOME>\n'
        "  <OUTCOME>damp</OUTCOME>\n  <OUTCOME>soaking_wet</OUTCOME>\n"
        "  <PROPERTY>bestdag-name = &quot;wet grass&quot;</PROPERTY>\n"
        "  <PROPERTY>bestdag-states = &quot;dry&quot;, &quot;damp&quot;, &quot;soaking wet&quot;"
        "</PROPERTY>\n</VARIABLE>\n"
        "<DEFINITION>\n  <FOR>rain</FOR>\n  <TABLE>\n    0.8 0.2\n  </TABLE>\n</DEFINITION>\n"
        "<DEFINITION>\n  <FOR>wet_grass</FOR>\n  <GIVEN>rain</GIVEN>\n  <TABLE>\n"
        "    1.0 0.0 0.0\n    0.0 0.25 0.75\n  </TABLE>\n</DEFINITION>\n</NETWORK>\n</BIF>\n"
    )


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 20))


@pytest.mark.parametrize(
    ("doctype", "message"),
    [
        (f'<!DOCTYPE BIF [<!ENTITY l0 "lol">{LAUGHS}]>', "1:28: entity 'l0' is declared"),
        (
            '<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
            "1:54: entity 'x' is declared",
        ),
        ('<!DOCTYPE BIF [<!ENTITY % x SYSTEM "http://x/">%x;]>', "1:47: entity 'x' is declared"),
        ('<!DOCTYPE BIF SYSTEM "http://x/x.dtd">', r"1:\d+: entity 'l19' is used"),
        ("", r"1:\d+: not valid XML: undefined entity"),
    ],
)
def test_entities_are_refused(doctype, message):
    with pytest.raises(FormatError, match=r"^x\.xml:" + message):
        parse(doctype + BODY.replace("&amp;", "&l19;").replace("\n", ""))


def test_an_external_document_type_is_not_fetched():
    assert parse(f'<!DOCTYPE BIF SYSTEM "http://no.such.host/x.dtd">{BODY}') == parse(BODY)


def test_default_attributes_are_not_repeated():
    long = "x" * 100_000
    doctype = f'<!DOCTYPE BIF [<!ATTLIST OUTCOME a CDATA "{long}">]>'
    many = "".join(f"<OUTCOME>{k}</OUTCOME>" for k in range(20_000))
    text = BODY.replace("<OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>", many)
    with pytest.raises(FormatError, match="values of 'rain': 20,000 numbers needed here, got 2"):
        parse(doctype + text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('TYPE="nature"', 'TYPE="decision"', "6:1: a variable of TYPE 'decision'; only chance"),
        ("<OUTCOME>no<", "<STATE>no<", "6:44: expected <NAME>, <OUTCOME>, <PROPERTY>, got <STATE>"),
        ("<NAME>wind</NAME>", "", "8:1: one <NAME> is needed, got 0"),
        ("<FOR>wind</FOR>", "", "12:1: one <FOR> is needed, got 0"),
        ("<FOR>wind<", "<FOR>wnd<", "12:1: variable 'wnd' is not declared"),
        ("<FOR>wind<", "<FOR>rain<", "12:1: variable 'rain' has two DEFINITIONs"),
        ("<GIVEN>wind<", "<GIVEN>rain<", "3:46: 'rain' is listed twice in one DEFINITION"),
        ("<GIVEN>wind</GIVEN>", "", "3:1: values of 'wet': 4 numbers needed here, got 12"),
        ("0.8 0.2", "0.8 0.3", "11:1: values of 'rain' must sum to 1"),
        ("0.8 0.2", "0.8 0,2", "11:28: expected a number, got '0,2'"),
        ("<TABLE>0.8 0.2</TABLE>", "", "11:1: the definition of 'rain' has no <TABLE>"),
        ("</NETWORK>", "", "14:3: not valid XML: mismatched tag"),
        ("<TABLE>0.8 0.2", "<TABLE>0.8 <b/>0.2", "11:39: element <b> among text"),
    ],
)
def test_mistakes(old, new, message):
    assert old in BODY
    with pytest.raises(FormatError, match=r"^x\.xml:" + message):
        parse(BODY.replace(old, new, 1))
