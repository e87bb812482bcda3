"""Files as HUGIN, GeNIe and Netica write them, after the public descriptions of their formats."""

import pytest

from bestdag import Network

# HUGIN 5.7 and GeNIe: sizes, colours, values of states, comments inside the numbers, counts of
# experience, exponents and numbers without a digit before or behind the point.
NET = """% Saved by a program
net
{
    inputs = ();
    outputs = ();
    node_size = (100 40);
    HR_Grid_X = "10";
    HR_Color_Utility = "36";
    label = "";
}

node Rain
{
    states = ("no" "yes");
    position = (10 -20);
    label = "Does it rain; or not?";
    subtype = boolean;
    HR_State_0 = "none % of it";
    HR_Desc = "Two lines,\\nand \\"quotes\\"";
}

discrete node Depth
{
    states = ("0 - 1" "1 - 5" "5 - inf");   % three
    subtype = interval;
    state_values = (0 1 5 infinity);
    position = (0 0);
}

discrete node Wet
{
    states = ("no"
              "yes");
}

potential ( Wet | Rain Depth )
{
    data = ((( 9e-01 .1 )    % Rain=no  Depth=0 - 1
             ( 0.8 0.2 )     % Rain=no  Depth=1 - 5
             ( 0.7 0.3 ))
            (( 0 1. )        % Rain=yes
             ( 0.25 0.75 )
             ( 0.1 0.9 )));
    experience = (( 10 10 10 ) ( 10 10 10 ));
}

potential ( Rain )
{
    data = ( 0.8 0.2 );
}

potential ( Depth | )
{
    data = (
        0.5
        0.25
        0.25
    );
    fading = 1;
}
"""

# A flat class: the later dialect of HUGIN, all within one frame.
CLASS = "class grass" + NET[NET.index("\n{") :].replace("}\n\nnode Rain", "\nnode Rain", 1) + "}\n"

# GeNIe 2 to 4: labels, costs, targets, evidence, submodels, text boxes, charts.
XDSL = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- a comment -->
<smile version="1.0" id="Network1" numsamples="10000" discsamples="10000">
\t<properties><property id="of_the_network">kept</property></properties>
\t<nodes>
\t\t<cpt id="Rain" diagtype="target" ranked="true" mandatory="true">
\t\t\t<state id="no" label="None" />
\t\t\t<state id="yes" target="true" fault="false"><fix>stay</fix></state>
\t\t\t<cost>1.5</cost>
\t\t\t<probabilities>0.8 0.2</probabilities>
\t\t</cpt>
\t\t<cpt id="Depth">
\t\t\t<state id="s1" /><state id="s2" /><state id="s3" />
\t\t\t<probabilities>0.5\n0.25\t0.25</probabilities>
\t\t</cpt>
\t\t<cpt id="Wet">
\t\t\t<state id="no" /><state id="yes" />
\t\t\t<parents>Rain   Depth</parents>
\t\t\t<probabilities>9e-01 0.1 0.8 0.2 0.7 0.3 0 1 0.25 0.75 0.1 0.9</probabilities>
\t\t</cpt>
\t</nodes>
\t<observationcost><node id="Wet"><cost>0.5</cost></node></observationcost>
\t<extensions>
\t\t<genie version="1.0" app="GeNIe 4.0.2304.0" name="Network1" faultnameformat="nodestate">
\t\t\t<node id="Rain">
\t\t\t\t<name>Does it &lt;rain&gt;?</name><interior color="e5f6f7" /><outline color="000080" />
\t\t\t\t<font color="000000" name="Arial" size="8" /><position>1 2 3 4</position>
\t\t\t\t<barchart active="true" width="128" height="64" />
\t\t\t</node>
\t\t\t<submodel id="Submodel1">
\t\t\t\t<name>part</name><position>1 2 3 4</position>
\t\t\t\t<node id="Wet"><name>Wet</name><position>1 2 3 4</position></node>
\t\t\t</submodel>
\t\t\t<textbox><caption>cpt id="no node"</caption><position>1 2 3 4</position></textbox>
\t\t</genie>
\t</extensions>
</smile>
"""

# Netica and GeNIe write DSC with the header of Microsoft's tools, names and positions.
DSC = """belief network "grass"
node Rain
{
  name: "Does it rain?";
  type: discrete[2] =
  {
    "no",
    "yes"
  };
  position: (7328, 10309);
}
node Depth
{
  name: "Depth";
  type: discrete[3] = { "shallow", "middle", "deep" };
  position: (17421, 10093);
}
node Wet
{
  type: discrete[2] = { "no", "yes" };
}
probability(Rain)
{
   0.8, 0.2;
}
probability(Depth)
{
   0.5, 0.25, 0.25;
}
probability(Wet | Rain, Depth)
{
  (0, 0): 0.9, 0.1;
  (0, 1): 0.8, 0.2;
  (0, 2): 0.7, 0.3;
  (1, 0): 0, 1;
  (1, 1): 0.25, 0.75;
  (1, 2): 0.1, 0.9;
}
"""

# The UAI evaluation of 2016 has comments: lines that begin with a c.
UAI = """c
c an example
BAYES
3
2 3 2
c tables
3
1 0
1 1
3 0 1 2

2
 0.8 0.2
3
 0.5 0.25 0.25
12
 0.9 0.1 0.8 0.2 0.7 0.3 0 1 0.25 0.75 0.1 0.9
"""


@pytest.mark.parametrize(
    ("suffix", "text"),
    [(".net", NET), (".net", CLASS), (".xdsl", XDSL), (".dsc", DSC), (".uai", UAI), ("", NET)],
    ids=["NET", "NET, class", "XDSL", "DSC", "UAI", "NET without a suffix"],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("begins", ["", "\ufeff"])
def test_the_same_network_in_every_dialect(suffix, text, ends, begins, tmp_path):
    path = tmp_path / f"file{suffix}"
    path.write_bytes((begins + text).replace("\n", ends).encode())
    network = Network.load(path)
    rain, depth, wet = sorted(network.names, key=["Rain", "0", "Depth", "1", "Wet", "2"].index)
    assert [network.variable(name).arity for name in (rain, depth, wet)] == [2, 3, 2]
    assert network.table(depth).rows.tolist() == [[0.5, 0.25, 0.25]]
    assert [parent.name for parent in network.table(wet).parents] == [rain, depth]
    assert network.table(wet).rows[:, 0].tolist() == [0.9, 0.8, 0.7, 0.0, 0.25, 0.1]
