"""``python -m helpdesk.schema``: the tools as JSON, each with its whole docstring, as the agent gets them."""

import inspect
import json

from . import TOOLS

if __name__ == "__main__":
    tools = [{"name": name, "description": inspect.getdoc(tool)} for name, tool in TOOLS.items()]
    print(json.dumps(tools, indent=2))
