"""Pictures of graphs: where things go, and the SVG that shows them; from names and arcs alone."""
