"""The smallest agent: ToolEval's stdio protocol with nothing but the standard library."""
import json
import sys
import traceback

calls = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call_tool(tool, args):
    global calls
    calls += 1
    send({"id": calls, "method": "tools/call", "params": {"tool": tool, "args": args}})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == calls and "method" not in message:
            if "error" in message:
                raise RuntimeError(message["error"]["message"])
            return message["result"]
        if message.get("method") == "cancel":
            raise RuntimeError("cancelled")
        if message.get("method") == "shutdown":
            raise SystemExit
    raise SystemExit("the harness has gone")


def run(assignment):
    a, b = assignment["input"]["numbers"]
    result = call_tool(assignment["tools"][0]["name"], {"a": a, "b": b})
    return {"response": result.get("text", ""), "state": {"total": result.get("structured")}}


for line in sys.stdin:
    message = json.loads(line)
    method, reply = message.get("method"), {"id": message.get("id")}
    if method == "shutdown":
        if "id" in message:
            send({**reply, "result": None})
        break
    elif method == "initialize":
        reply["result"] = {"protocol_version": 1, "name": "python", "entry_points": ["shop.total"]}
    elif method == "run":
        try:
            reply["result"] = run(message["params"])
        except Exception as e:
            traceback.print_exc()
            reply["error"] = {"code": -32000, "message": repr(e), "data": {"owner": "agent"}}
    else:
        reply["error"] = {"code": -32601, "message": "no such method"}
    if "id" in message:
        send(reply)
