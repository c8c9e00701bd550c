"""Tests of the client: each starts a real agent process and plays the harness."""
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import tooleval  # noqa: E402

WAIT = 30


class Agent:
    """An agent process, and the harness's end of the conversation."""

    def __init__(self, code):
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen([sys.executable, "-c", "import tooleval\n" + textwrap.dedent(code)], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.log = b""
        self.reader = threading.Thread(target=self._drain, daemon=True)
        self.reader.start()
        self.timer = threading.Timer(WAIT, self.process.kill)  # so that no test hangs
        self.timer.start()
        self.last = 0

    def _drain(self):
        self.log = self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass

    def raw(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, **message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            self.reader.join(WAIT)
            raise AssertionError("the agent ended: " + self.log.decode(errors="replace"))
        return line

    def read(self):
        return json.loads(self.line())

    def request(self, method, **params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        return self.last

    def start(self):
        self.request("initialize", protocol_version=1)
        return self.read()["result"]

    def run(self, **params):
        return self.request("run", **{"task_id": "t", "description": "d", "entry_point": "e", "tools": [], **params})

    def answer(self, call, **result):
        self.send(id=call["id"], result=result)

    def exit(self):
        self.process.wait(WAIT)
        self.reader.join()
        return self.process.returncode


class Conversation(unittest.TestCase):
    def result(self, code, **params):
        """The answer to a run that makes no calls."""
        with Agent(code) as a:
            a.start()
            a.run(**params)
            return a.read()

    def test_whole_conversation(self):
        with Agent("""
            def run(task, tools):
                r = tools.call("add", a=task.input[0], name="n", self=1)
                return tooleval.Result(r.text, r.structured, tooleval.Usage(model="m", turns=0), warnings=["w"])
            tooleval.serve(run, name="adder", version="3")
        """) as a:
            self.assertEqual(a.start(), {"protocol_version": 1, "name": "adder", "version": "3"})
            id = a.run(input=[2], tools=[{"name": "add"}])
            call = a.read()
            self.assertEqual(call["params"], {"tool": "add", "args": {"a": 2, "name": "n", "self": 1}})
            a.answer(call, text="2", structured={"sum": 2})
            self.assertEqual(a.read(), {"jsonrpc": "2.0", "id": id, "result": {
                "response": "2", "state": {"sum": 2}, "usage": {"model": "m", "turns": 0}, "warnings": ["w"]}})
            a.send(method="shutdown")
            self.assertEqual(a.exit(), 0)
            self.assertEqual(a.log, b"")

    def test_short_results(self):
        for code, want in {"'hi'": {"response": "hi"}, "{'a': 1}": {"state": {"a": 1}}, "None": {},
                           "tooleval.Result(state=None)": {"state": None},
                           "tooleval.Result(b'\\xff')": {"response": {"$bytes": "/w=="}},
                           "tooleval.Result(incomplete='own tools')": {"evidence": {"incomplete": "own tools"}},
                           "{'$text': 'x'}": {"state": {"$text": '{"$text":"x"}'}}}.items():
            with self.subTest(code):
                got = self.result("tooleval.serve(lambda task, tools: %s)" % code)
                self.assertEqual(got.get("result"), want)

    def test_bad_results(self):
        for code in ("7", "{'a': float('nan')}", "{'a': {1, 2}}"):
            with self.subTest(code):
                error = self.result("tooleval.serve(lambda task, tools: %s)" % code)["error"]
                self.assertEqual((error["code"], error["data"]), (-32000, {"owner": "agent"}))

    def test_entry_points(self):
        with Agent("tooleval.serve({'a': lambda *_: 'A', 'b': lambda *_: 'B'})") as a:
            self.assertEqual(a.start()["entry_points"], ["a", "b"])
            for name, want in (("b", "B"), ("a", "A")):
                a.run(entry_point=name)
                self.assertEqual(a.read()["result"]["response"], want)
            a.run(entry_point="c")
            self.assertEqual(a.read()["error"]["code"], -32602)

    def test_coroutine_and_parallel_calls(self):
        with Agent("""
            import asyncio
            async def run(task, tools):
                rs = await asyncio.gather(*(tools.call_async("t", i=i) for i in range(3)))
                return " ".join(r.text for r in rs)
            tooleval.serve(run)
        """) as a:
            a.start()
            a.run()
            for call in reversed([a.read() for _ in range(3)]):
                a.answer(call, text=str(call["params"]["args"]["i"]))
            self.assertEqual(a.read()["result"], {"response": "0 1 2"})

    def test_many_threads(self):
        with Agent("""
            from concurrent.futures import ThreadPoolExecutor
            def run(task, tools):
                with ThreadPoolExecutor(32) as pool:
                    return " ".join(r.text for r in pool.map(lambda i: tools.call("t", i=i, pad="x" * 5000), range(200)))
            tooleval.serve(run)
        """) as a:
            a.start()
            a.run()
            ids = set()
            for _ in range(200):
                call = a.read()
                ids.add(call["id"])
                a.answer(call, text=str(call["params"]["args"]["i"]))
            self.assertEqual(a.read()["result"]["response"], " ".join(map(str, range(200))))
            self.assertEqual(len(ids), 200)

    def test_stdout_is_protected(self):
        got = self.result("""
            import os, subprocess, sys
            def run(task, tools):
                print("a print")
                os.write(1, b"a write")
                subprocess.run([sys.executable, "-c", "import sys; print('a child', sys.stdin.read())"])
                return "ok"
            tooleval.serve(run)
        """)
        self.assertEqual(got["result"], {"response": "ok"})

    def test_owners(self):
        for code, code_want, owner in (("1/0", -32000, "agent"), ("sys.exit(3)", -32000, "agent"),
                                       ("raise tooleval.Blame('infra', '429')", -32000, "infra"),
                                       ("raise tooleval.Blame('user', 'no key')", -32000, "user")):
            with self.subTest(code):
                error = self.result("import sys\ndef run(task, tools):\n    %s\ntooleval.serve(run)" % code)["error"]
                self.assertEqual((error["code"], error["data"]["owner"]), (code_want, owner))
        with self.assertRaises(ValueError):
            tooleval.Blame("nobody", "x")

    def test_tool_errors(self):
        with Agent("""
            def run(task, tools):
                r = tools.call("t")
                try:
                    r.check()
                except tooleval.ToolError as e:
                    return "%s %s %s" % (r.is_error, e, e.result is r)
            tooleval.serve(run)
        """) as a:
            a.start()
            a.run()
            a.answer(a.read(), text="no", is_error=True)
            self.assertEqual(a.read()["result"]["response"], "True no True")
            a.run()  # no answer at all: the owner is the harness's
            a.send(id=a.read()["id"], error={"code": -32003, "message": "broke", "data": {"owner": "world"}})
            self.assertEqual(a.read()["error"], {"code": -32000, "message": "broke", "data": {"owner": "world"}})

    def test_numbers_and_texts(self):
        big, huge = "12345678901234567891234567890", "9" * 5000
        with Agent("""
            def run(task, tools):
                r = tools.call("t", n=task.input["n"], s=task.input["s"])
                return tooleval.Result(r.text, {"s": r.structured["s"], "d": str(r.structured["d"])})
            tooleval.serve(run)
        """) as a:
            a.start()
            a.run(input={"n": int(big), "s": "\ud83d"})
            line = a.line()
            self.assertIn(('"n":%s' % big).encode(), line)
            self.assertIn(b'"s":"\\ud83d"', line)
            a.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"text":{"$bytes":"/w=="},"structured":{"s":"\\udc00","d":%s}}}'
                  % (json.loads(line)["id"], huge.encode()))
            self.assertEqual(a.read()["result"], {"response": "\ufffd", "state": {"s": "\udc00", "d": huge}})

    def test_arguments_of_a_model(self):
        texts = ['{"b": 1.0,\n "a":1e400, "a":"\ud83d"}', '{"broken', '{"n": NaN}', '{"$text":"x"}']
        with Agent("""
            def run(task, tools):
                for i, text in enumerate(task.input):
                    tools.call_json("t", text, id="call_%d" % i)
            tooleval.serve(run)
        """) as a:
            a.start()
            a.run(input=texts)
            for i, want in enumerate([b'{"b": 1.0,  "a":1e400, "a":"\\ud83d"}', b'{"$text":"{\\"broken"}',
                                      b'{"$text":"{\\"n\\": NaN}"}', b'{"$text":"{\\"$text\\":\\"x\\"}"}']):
                line = a.line()
                self.assertIn(b'"id":"call_%d","args":%s}' % (i, want), line)
                a.answer(json.loads(line))
            self.assertEqual(a.read()["result"], {})

    def test_cancel(self):
        with Agent("""
            def run(task, tools):
                if task.input == "wait":
                    task.cancelled.wait()
                    return "what there is"
                tools.call("t")
            tooleval.serve(run)
        """) as a:
            a.start()
            a.send(method="cancel")  # outside a run: nothing
            a.run(input="wait")
            a.send(method="cancel")
            self.assertEqual(a.read()["result"], {"response": "what there is"})
            a.run()
            call = a.read()
            a.send(method="cancel")
            self.assertEqual(a.read()["error"]["code"], -32001)
            a.answer(call, text="too late")
            a.run()  # and the next run is whole
            a.answer(a.read(), text="x")
            self.assertIn("result", a.read())

    def test_no_call_after_the_run(self):
        with Agent("""
            kept = []
            def run(task, tools):
                if kept:
                    try:
                        kept[0].call("late")
                    except tooleval.CallError as e:
                        return str(e)
                kept.append(tools)
            tooleval.serve(run)
        """) as a:
            a.start()
            a.run()
            self.assertEqual(a.read()["result"], {})
            a.run()
            self.assertEqual(a.read()["result"]["response"], "the run has ended: no more calls")

    def test_rules_of_the_protocol(self):
        with Agent("tooleval.serve(lambda task, tools: tools.call('t').text)") as a:
            a.run()
            self.assertEqual(a.read()["error"]["code"], -32600)  # before initialize
            a.start()
            a.request("unknown")
            self.assertEqual(a.read()["error"]["code"], -32601)
            a.send(method="unknown/notification")
            a.send(id=99, result={})  # an answer to nothing
            a.send(id=None, method="run")
            self.assertEqual(a.read()["error"]["code"], -32600)
            for line in (b"noise", b"[]", b"\xff", b"[" * 100000):
                a.raw(line)
                got = a.read()
                self.assertEqual((got["id"], got["error"]["code"]), (None, -32700))
            a.raw(b" \r")
            a.request("run", tools=7)
            self.assertEqual(a.read()["error"]["code"], -32602)
            a.run()
            call = a.read()
            a.run()
            self.assertEqual(a.read()["error"]["code"], -32600)  # a run during a run
            a.answer(call, text="done")
            self.assertEqual(a.read()["result"], {"response": "done"})
            a.send(id="bye", method="shutdown")
            self.assertEqual(a.read(), {"jsonrpc": "2.0", "id": "bye", "result": None})
            self.assertEqual(a.exit(), 0)

    def test_end_of_input(self):
        with Agent("tooleval.serve(lambda *_: None)") as a:
            a.process.stdin.close()
            self.assertEqual(a.exit(), 0)
        with Agent("import time\ntooleval.serve(lambda task, tools: tools.call('t') and time.sleep(1000))") as a:
            a.start()
            a.run()
            a.answer(a.read(), text="x")
            a.process.stdin.close()  # in a run that looks at nothing
            self.assertEqual(a.exit(), 1)

    def test_serve_takes_functions(self):
        for bad in ({}, 7, None):
            with self.assertRaises((TypeError, ValueError)):
                tooleval.serve(bad)


if __name__ == "__main__":
    unittest.main()
