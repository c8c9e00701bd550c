"""The agent that `tooleval agents check` exercises in full: it makes the calls that the task lists."""
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tooleval  # noqa: E402


def run(task, tools):
    with ThreadPoolExecutor(8 if task.input["parallel"] else 1) as threads:
        results = list(threads.map(lambda c: tools.call(c["tool"], **c["args"]), task.input["calls"]))
    return results[-1].text if results else None


tooleval.serve(run)
