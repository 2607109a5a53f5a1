"""Tools for agents, by the Model Context Protocol: a face over the steps, for one program or over HTTP."""
