"""An agent for ToolEval in one function.

    import tooleval

    def run(task, tools):
        answer = tools.call("calculate", expression="6 * 7")
        return tooleval.Result(response=answer.text, state=answer.structured)

    tooleval.serve(run)

ToolEval starts the program (``tooleval run --agent 'cmd:python3 agent.py'``) and talks to it over standard input and
output in the protocol of docs/protocol.md. This module speaks it, and needs nothing but the standard library.

Limits: numbers with a decimal point are floats here, so they keep about 17 digits; integers keep all of theirs. Code
that runs without ever looking at ``task.cancelled`` or calling a tool can't be stopped but by ending the process,
which the harness does.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import inspect
import json
import os
import queue
import re
import sys
import threading
import traceback
from concurrent.futures import Future
from decimal import Decimal
from typing import Any, BinaryIO, Callable, Dict, List, Mapping, Optional, Sequence, Union

__all__ = [
    "Blame", "CallError", "Cancelled", "Result", "Run", "Task", "Tool", "ToolError", "ToolResult", "Tools", "Usage",
    "serve",
]
__version__ = "0.1.0"

PROTOCOL_VERSION = 1
MAX_LINE = 64 << 20  # bytes, without the line feed
END_GRACE = 1.0  # seconds that a run has to stop once the harness has gone

_PARSE, _INVALID, _METHOD, _PARAMS = -32700, -32600, -32601, -32602
_FAILED, _CANCELLED = -32000, -32001
_OWNERS = ("agent", "infra", "user")
_UNSET: Any = object()


class ToolError(Exception):
    """The tool said no. Raised by ToolResult.check alone."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.text)
        self.result = result


class CallError(Exception):
    """A call had no answer, since the harness or the world broke or the request was wrong.

    Let it pass: it ends the run with the owner that the harness named.
    """

    def __init__(self, message: str, code: int = 0, owner: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.owner = owner


class Cancelled(Exception):
    """The run is to stop. Raised by the calls of a cancelled run; let it pass, or return what there is."""


class Blame(Exception):
    """Ends a run and says whose fault it is: "agent", "infra" (a rate limit, a network that is gone) or "user" (a
    missing key). Only the agent's own faults are scored."""

    def __init__(self, owner: str, message: object = "") -> None:
        if owner not in _OWNERS:
            raise ValueError("owner %r: it is one of %s" % (owner, ", ".join(_OWNERS)))
        super().__init__(str(message))
        self.owner = owner


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool that the task offers. The schema is a JSON Schema of type object; None allows any object."""

    name: str
    description: str = ""
    input_schema: Optional[Dict[str, Any]] = None


@dataclasses.dataclass(frozen=True)
class ToolResult:
    """What a tool answered: text as a model reads it (bytes that are no UTF-8 are replaced by U+FFFD), the same as
    data (None when there is only text), and whether the tool said no."""

    text: str = ""
    structured: Any = None
    is_error: bool = False

    def check(self) -> ToolResult:
        """The result itself; raises ToolError when the tool said no."""
        if self.is_error:
            raise ToolError(self)
        return self


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a run used. None is unknown, 0 is none."""

    model: Optional[str] = None
    input_tokens: Optional[int] = None
    output_tokens: Optional[int] = None
    cached_tokens: Optional[int] = None  # part of the input
    turns: Optional[int] = None  # requests to the model
    cost_usd: Optional[float] = None
    vendor: Any = None  # the vendor's own record


@dataclasses.dataclass(frozen=True)
class Result:
    """The outcome of a run. A state that is not given is absent; None is the value null. Texts may be bytes.
    Incomplete says why the harness may not have seen every tool call, for an agent that has tools of its own."""

    response: Union[str, bytes] = ""
    state: Any = _UNSET
    usage: Optional[Usage] = None
    incomplete: str = ""
    warnings: Sequence[Union[str, bytes]] = ()


@dataclasses.dataclass(frozen=True)
class Task:
    """One task. Input is None when the description says it all. Cancelled is set when the run is to stop."""

    task_id: str
    description: str
    entry_point: str
    input: Any
    tools: List[Tool]
    cancelled: threading.Event


# A user's function: it may be a coroutine function. A str is the response, a dict the state, None an empty result.
Run = Callable[[Task, "Tools"], Any]


class Tools:
    """The way to the tools of one run. Any number of threads may call at once. Any name may be called: a tool that the
    task does not offer answers with is_error. Once the run has ended every call raises CallError."""

    def __init__(self, server: _Server, cancelled: threading.Event) -> None:
        self._server = server
        self._cancelled = cancelled
        self._open: Dict[int, Future[ToolResult]] = {}
        self._lock = threading.Lock()
        self._ended: Optional[Exception] = None

    def call(self, name: str, /, **args: Any) -> ToolResult:
        """Calls a tool and waits for its answer."""
        return self.send(name, args).result()

    async def call_async(self, name: str, /, **args: Any) -> ToolResult:
        """Is call for a coroutine; asyncio.gather makes calls in parallel."""
        return await asyncio.wrap_future(self.send(name, args))

    def call_json(self, name: str, args: str, /, id: Optional[str] = None) -> ToolResult:
        """Calls a tool with arguments as a model wrote them, byte for byte. Text that is not JSON is recorded as what
        it is. The id is the model's own name for the call."""
        return self._send(name, _spell(args), id).result()

    def send(self, name: str, args: Any, /, id: Optional[str] = None) -> Future[ToolResult]:
        """Calls a tool with any JSON value and does not wait. Raises ValueError or TypeError when args is none."""
        return self._send(name, _encode(_wrap(args)), id)

    def _send(self, name: str, args: bytes, id: Optional[str]) -> Future[ToolResult]:
        future: Future[ToolResult] = Future()
        future.set_running_or_notify_cancel()  # an answer will come; a caller that gives up must not break it
        head = b'{"tool":' + _encode(name)
        if id is not None:
            head += b',"id":' + _encode(id)
        params = head + b',"args":' + args + b"}"
        with self._lock:  # so that no call follows the answer to the run
            if self._ended is not None:
                raise self._ended
            number = self._server.next_id()
            self._open[number] = future
            self._server.put(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%b}' % (number, params))
        return future

    def _answer(self, message: Dict[str, Any]) -> None:
        number = message.get("id")
        with self._lock:
            future = self._open.pop(number, None) if type(number) is int else None
        if future is None:
            return
        try:
            if "error" in message:
                future.set_exception(_call_error(message["error"]))
            else:
                r = message.get("result") or {}
                future.set_result(ToolResult(_text(r.get("text", "")), _unwrap(r.get("structured")),
                                             r.get("is_error") is True))
        except Exception as e:  # the harness's, and no reason to leave the caller waiting
            future.set_exception(CallError("the answer to a tool call is malformed: %r" % e))

    def _end(self, why: Exception, last: Callable[[], None] = lambda: None) -> None:
        with self._lock:
            if self._ended is None or not isinstance(why, Cancelled):
                self._ended = why
            left, self._open = self._open, {}
            last()
        for future in left.values():
            future.set_exception(why)


def serve(run: Union[Run, Mapping[str, Run]], *, name: Optional[str] = None, version: Optional[str] = None) -> None:
    """Serves runs until the harness ends the conversation, and returns then.

    One function serves every entry point; a dict has one for each. While it serves, standard output is the protocol's:
    what the program or its children print goes to standard error, and standard input is empty for them. Call it once,
    from the main thread; run is called there too, one run at a time.
    """
    if isinstance(run, Mapping):
        if not run:
            raise ValueError("serve: the dict of entry points is empty")
        runs: Union[Run, Dict[str, Run]] = dict(run)
    elif callable(run):
        runs = run
    else:
        raise TypeError("serve: want a function or a dict of functions, got %r" % type(run).__name__)
    name = name or os.path.splitext(os.path.basename(sys.argv[0] or ""))[0] or "python"

    if sys.stdin is not None and sys.stdin.isatty():
        sys.exit("%s is an agent; a harness starts it and speaks ToolEval's stdio protocol with it" % name)

    # Children inherit 0 and 1, so replacing sys.stdout alone would not do.
    sys.stdout.flush()
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        _Server(source, sink, runs, name, version).serve()
    finally:
        sys.stdout = stdout


class _Server:
    """One conversation. A thread reads, a thread writes, and the caller's thread runs: the harness may stop reading
    while many calls are open, so reading must never wait for writing."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, runs: Union[Run, Dict[str, Run]], name: str,
                 version: Optional[str], exit: Callable[[int], Any] = os._exit) -> None:
        self._source, self._sink, self._runs, self._exit = source, sink, runs, exit
        self._about: Dict[str, Any] = {"protocol_version": PROTOCOL_VERSION, "name": name}
        if version:
            self._about["version"] = version
        if isinstance(runs, dict):
            self._about["entry_points"] = list(runs)
        self._out: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._todo: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._current: Optional[Tools] = None
        self._last_id = 0
        self._initialized = False
        self._done = threading.Event()

    def serve(self) -> None:
        writer = threading.Thread(target=self._write, name="tooleval-write", daemon=True)
        writer.start()
        threading.Thread(target=self._read, name="tooleval-read", daemon=True).start()
        while True:
            job = self._todo.get()
            if job is None:
                break
            job()
        self._done.set()
        self._out.put(None)
        writer.join(END_GRACE)

    def next_id(self) -> int:
        with self._lock:
            self._last_id += 1
            return self._last_id

    def put(self, line: bytes) -> None:
        self._out.put(line)

    def _write(self) -> None:
        try:
            while True:
                line = self._out.get()
                if line is None:
                    return
                self._sink.write(line + b"\n")
                self._sink.flush()
        except (OSError, ValueError):
            self._stop()  # nobody reads any more

    def _read(self) -> None:
        try:
            while True:
                line = self._source.readline(MAX_LINE + 2)
                if not line or len(line) > MAX_LINE + 1 or not self._take(line):
                    break
        except (OSError, ValueError):
            pass
        self._stop()
        # A run that does not stop by itself has no one to tell, and must not outlive the harness.
        if not self._done.wait(END_GRACE):
            self._exit(1)

    def _stop(self) -> None:
        with self._lock:
            current = self._current
        if current is not None:
            current._cancelled.set()
            current._end(Cancelled("the harness has gone"))
        self._todo.put(None)

    def _take(self, line: bytes) -> bool:
        """Handles one line and reports whether the conversation goes on."""
        if not line.strip():
            return True
        try:
            message = _decode(line)
            if not isinstance(message, dict):
                raise ValueError("it is no object")
        except (ValueError, RecursionError) as e:
            self._unreadable(line, e)
            return True
        id, method, params = message.get("id"), message.get("method"), message.get("params")
        if method is None:
            with self._lock:
                current = self._current
            if current is not None:
                current._answer(message)
            return True
        if "id" not in message:
            if method == "shutdown":
                return False
            if method == "cancel":
                with self._lock:
                    current = self._current
                if current is not None:
                    current._cancelled.set()
                    current._end(Cancelled("the run was cancelled"))
            return True
        if type(id) not in (int, float, str):
            self._fail(None, _INVALID, "the id is neither a string nor a number")
        elif method == "initialize":
            self._initialized = True
            self._reply(id, self._about)
        elif method == "shutdown":
            self._reply(id, None)
            return False
        elif method == "run":
            self._run(id, params)
        else:
            self._fail(id, _METHOD, "there is no such method")
        return True

    def _unreadable(self, line: bytes, why: Exception) -> None:
        """Tells of a line that can't be read. The ones who wait for it must not wait forever."""
        request = re.match(rb'\{"jsonrpc":"2\.0","id":(\d{1,15}),"method":', line)
        self._fail(int(request[1]) if request else None, _PARSE, "the line is no message: %s" % why)
        with self._lock:
            current = self._current
        if current is not None and not request:
            with current._lock:
                left, current._open = current._open, {}
            for future in left.values():
                future.set_exception(CallError("a message of the harness can't be read: %s" % why, owner="infra"))

    def _run(self, id: Any, params: Any) -> None:
        if not self._initialized:
            return self._fail(id, _INVALID, "run came before initialize")
        try:
            cancelled = threading.Event()
            task = Task(
                task_id=_text(params.get("task_id", "")), description=_text(params.get("description", "")),
                entry_point=_text(params.get("entry_point", "")), input=_unwrap(params.get("input")),
                tools=[Tool(_text(t["name"]), _text(t.get("description") or ""), t.get("input_schema"))
                       for t in params.get("tools") or []],
                cancelled=cancelled)
        except (AttributeError, KeyError, TypeError, ValueError) as e:
            return self._fail(id, _PARAMS, "the assignment is malformed: %r" % e)
        run = self._runs.get(task.entry_point) if isinstance(self._runs, dict) else self._runs
        if run is None:
            return self._fail(id, _PARAMS, "there is no entry point %r" % task.entry_point)
        tools = Tools(self, cancelled)
        with self._lock:
            busy = self._current is not None
            if not busy:
                self._current = tools
        if busy:
            return self._fail(id, _INVALID, "a run is in progress")
        self._todo.put(lambda: self._work(id, run, task, tools))

    def _work(self, id: Any, run: Run, task: Task, tools: Tools) -> None:
        try:
            value = run(task, tools)
            if inspect.isawaitable(value):
                value = asyncio.run(_wait(value))
            answer = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_encode(id), _encode(_result(value)))
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # sys.exit in a run is no answer either
            if not isinstance(e, (Blame, Cancelled)):
                traceback.print_exc()
            answer = _error(id, *_failure(e, task.cancelled.is_set()))

        def last() -> None:
            with self._lock:
                self._current = None
            self.put(answer)

        tools._end(CallError("the run has ended: no more calls"), last)

    def _reply(self, id: Any, result: Any) -> None:
        self.put(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_encode(id), _encode(result)))

    def _fail(self, id: Any, code: int, message: str) -> None:
        self.put(_error(id, code, message))


async def _wait(value: Any) -> Any:
    return await value


def _failure(e: BaseException, cancelled: bool) -> tuple[int, str, Optional[str]]:
    if isinstance(e, Blame):
        return _FAILED, str(e) or "failed", e.owner
    if cancelled:
        return _CANCELLED, "cancelled" if isinstance(e, Cancelled) else "cancelled: %s" % _say(e), None
    if isinstance(e, CallError) and e.owner:
        return _FAILED, str(e), e.owner
    return _FAILED, _say(e), "agent"


def _say(e: BaseException) -> str:
    try:
        return "%s: %s" % (type(e).__name__, e)
    except Exception:  # an exception of the user's whose __str__ raises
        return type(e).__name__


def _call_error(error: Any) -> CallError:
    if not isinstance(error, dict):
        return CallError("the harness answered with an error that is none")
    data = error.get("data")
    owner = data.get("owner") if isinstance(data, dict) else None
    code = error.get("code")
    return CallError(_text(error.get("message", "")), code if isinstance(code, int) else 0,
                     owner if isinstance(owner, str) else None)


def _error(id: Any, code: int, message: str, owner: Optional[str] = None) -> bytes:
    error: Dict[str, Any] = {"code": code, "message": message}
    if owner:
        error["data"] = {"owner": owner}
    return _encode({"jsonrpc": "2.0", "id": id, "error": error})


def _result(value: Any) -> Dict[str, Any]:
    if value is None:
        value = Result()
    elif isinstance(value, (str, bytes)):
        value = Result(response=value)
    elif isinstance(value, dict):
        value = Result(state=value)
    elif not isinstance(value, Result):
        raise TypeError("run returned %s: want a Result, a dict, a str or None" % type(value).__name__)
    out: Dict[str, Any] = {}
    if value.response:
        out["response"] = _spell_text(value.response)
    if value.state is not _UNSET:
        out["state"] = _wrap(value.state)
    if value.usage is not None:
        out["usage"] = {f.name: getattr(value.usage, f.name) for f in dataclasses.fields(value.usage)
                        if getattr(value.usage, f.name) is not None}
    if value.incomplete:
        out["evidence"] = {"incomplete": value.incomplete}
    if value.warnings:
        out["warnings"] = [_spell_text(w) for w in value.warnings]
    return out


def _spell_text(text: Union[str, bytes]) -> Any:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return {"$bytes": base64.b64encode(text).decode("ascii")}


def _text(value: Any) -> str:
    """A text of the protocol. What is no UTF-8 is replaced, since a str can't hold it."""
    if isinstance(value, dict) and set(value) == {"$bytes"}:
        return base64.b64decode(value["$bytes"], validate=True).decode("utf-8", "replace")
    if not isinstance(value, str):
        raise TypeError("want a text, got %s" % type(value).__name__)
    return value


def _wrapped(value: Any) -> Optional[str]:
    if isinstance(value, dict) and len(value) == 1:
        (key, text), = value.items()
        if key in ("$text", "$bytes") and isinstance(text, str):
            return str(key)
    return None


def _wrap(value: Any) -> Any:
    """Any JSON value as it goes over the wire: one that looks like a wrapped text is wrapped itself."""
    return {"$text": _encode(value).decode("ascii")} if _wrapped(value) else value


def _unwrap(value: Any) -> Any:
    kind = _wrapped(value)
    if kind == "$bytes":
        return base64.b64decode(value["$bytes"], validate=True)
    if kind == "$text":
        try:
            inner = _decode(value["$text"])
        except (ValueError, RecursionError):
            return value["$text"]
        return inner if _wrapped(inner) else value["$text"]
    return value


def _spell(text: str) -> bytes:
    """A model's JSON as it stands, on one line. In JSON line ends are only white space, and a lone surrogate may as
    well be escaped, so neither changes the value."""
    try:
        if _wrapped(_decode(text)) is None:
            return text.encode("utf-8", "backslashreplace").replace(b"\r", b" ").replace(b"\n", b" ")
    except (ValueError, RecursionError):
        pass
    return _encode({"$text": text})


def _integer(digits: str) -> Any:
    # Python refuses to make very long integers of text; a Decimal has the same digits.
    return int(digits) if len(digits) <= 4000 else Decimal(digits)


def _constant(name: str) -> Any:
    raise ValueError("%s is no JSON" % name)


def _decode(text: Union[str, bytes]) -> Any:
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    return json.loads(text, parse_int=_integer, parse_constant=_constant)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    raise TypeError("%s is no JSON value" % type(value).__name__)


def _encode(value: Any) -> bytes:
    # ASCII alone: lone surrogates are escaped and so survive.
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode("ascii")
