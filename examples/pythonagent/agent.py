"""A toy agent for the calc suite: it reads the numbers out of the description and lets a tool do the rest.

    tooleval run --suite calc --agent 'cmd:python3 examples/pythonagent/agent.py' --runs 3
"""

import os
import re
import sys

# From a checkout; with `pip install ./clients/python` this line is not needed.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "clients", "python"))

import tooleval  # noqa: E402


def run(task, tools):
    product = re.search(r"(\d+) \* (\d+)", task.description)
    length = re.search(r"(kilometer|mile)s? are (\d+) (kilometer|mile)s?", task.description)
    if product:
        result = tools.call("calculate", expression=product.group(0))
    elif length:
        to, value, unit = length.groups()
        result = tools.call("convert", **{"value": int(value), "from": unit, "to": to})
    else:
        return "I can't do this."
    return tooleval.Result(response=result.text, state=result.structured)


tooleval.serve(run, name="pythonagent")
