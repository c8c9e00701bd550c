// Tests of the built client: each starts a real agent process and plays the harness.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { Blame, decode, encode, serve } from "../dist/index.js";

const client = new URL("../dist/index.js", import.meta.url).href;

/** An agent process, and the harness's end of the conversation. It is ended with the test. */
class Agent {
  last = 0;
  log = "";

  constructor(t, code) {
    const source = `import { serve, check, Blame, CallError, ToolError } from ${JSON.stringify(client)};\n${code}`;
    this.process = spawn(process.execPath, ["--input-type=module", "-e", source], { timeout: 30_000 });
    this.process.stdin.on("error", () => {}); // an agent that has ended
    this.process.stderr.on("data", (d) => (this.log += d));
    this.exited = once(this.process, "exit").then(([status]) => status);
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    t.after(() => this.process.kill("SIGKILL"));
  }

  raw(line) {
    this.process.stdin.write(line);
    this.process.stdin.write("\n");
  }

  send(message) {
    this.raw(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  async line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error(`the agent ended: ${this.log}`);
    return value;
  }

  async read() {
    return JSON.parse(await this.line());
  }

  request(method, params = {}) {
    this.send({ id: ++this.last, method, params });
    return this.last;
  }

  async start() {
    this.request("initialize", { protocol_version: 1 });
    return (await this.read()).result;
  }

  run(params = {}) {
    return this.request("run", { task_id: "t", description: "d", entry_point: "e", tools: [], ...params });
  }

  answer(call, result = {}) {
    this.send({ id: call.id, result });
  }
}

/** The answer to a run that makes no calls. */
async function answerOf(t, code) {
  const a = new Agent(t, code);
  await a.start();
  a.run();
  return a.read();
}

test("JSON keeps every digit of an integer", () => {
  const text = '{"a":[12345678901234567890,-1,0.1,"\\"12345678901234567890\\\\",true,null,{}],"__proto__":{"x":[]}, "b" : 1e3 }';
  const value = decode(text);
  assert.equal(value.a[0], 12345678901234567890n);
  assert.equal(value.a[1], -1);
  assert.equal(value.a[3], '"12345678901234567890\\');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(encode(value), text.replace(', "b" : 1e3 }', ',"b":1000}'));
  assert.throws(() => decode('{"a":12345678901234567890'), SyntaxError);
  for (const bad of [NaN, Infinity, () => 1, undefined, { a: Symbol() }]) assert.throws(() => encode(bad), TypeError);
  const loop = {};
  loop.loop = [loop];
  assert.throws(() => encode(loop), TypeError);
  assert.equal(encode({ a: undefined, d: new Date(0), s: "\ud83d" }), '{"d":"1970-01-01T00:00:00.000Z","s":"\\ud83d"}');
});

test("a whole conversation", async (t) => {
  const a = new Agent(t, `serve(async (task, tools) => {
    const r = await tools.call("add", { a: task.input[0] }, "call_1");
    return { response: r.text, state: r.structured, usage: { model: "m", turns: 0 }, warnings: ["w"] };
  }, { name: "adder", version: "3" });`);
  assert.deepEqual(await a.start(), { protocol_version: 1, name: "adder", version: "3" });
  const id = a.run({ input: [2], tools: [{ name: "add" }] });
  const call = await a.read();
  assert.deepEqual(call.params, { tool: "add", id: "call_1", args: { a: 2 } });
  a.answer(call, { text: "2", structured: { sum: 2 } });
  assert.deepEqual(await a.read(), {
    jsonrpc: "2.0", id,
    result: { response: "2", state: { sum: 2 }, usage: { model: "m", turns: 0 }, warnings: ["w"] },
  });
  a.send({ method: "shutdown" });
  assert.equal(await a.exited, 0);
  assert.equal(a.log, "");
});

test("short results", async (t) => {
  for (const [code, want] of [
    ["'hi'", { response: "hi" }], ["undefined", {}], ["({ state: null })", { state: null }],
    ["({ incomplete: 'own tools' })", { evidence: { incomplete: "own tools" } }],
    ["({ state: { $text: 'x' } })", { state: { $text: '{"$text":"x"}' } }],
  ]) assert.deepEqual((await answerOf(t, `serve(() => ${code});`)).result, want, code);
});

test("owners", async (t) => {
  for (const [code, owner] of [
    ["null.x", "agent"], ["{ throw new Blame('infra', '429') }", "infra"], ["{ throw new Blame('user', 'no key') }", "user"],
    ["{ return 7 }", "agent"], ["{ return { state: NaN } }", "agent"], ["{ return { answer: 7 } }", "agent"], ["{ throw null }", "agent"],
  ]) {
    const { error } = await answerOf(t, `serve(async () => { ${code} });`);
    assert.deepEqual([error.code, error.data.owner], [-32000, owner], code);
  }
  assert.throws(() => new Blame("nobody", "x"), RangeError);
  for (const bad of [{}, 7, null]) assert.throws(() => serve(bad), TypeError);
});

test("entry points", async (t) => {
  const a = new Agent(t, "serve({ a: () => 'A', b: () => 'B' });");
  assert.deepEqual((await a.start()).entry_points, ["a", "b"]);
  for (const [name, want] of [["b", "B"], ["a", "A"]]) {
    a.run({ entry_point: name });
    assert.equal((await a.read()).result.response, want);
  }
  for (const name of ["c", "toString"]) {
    a.run({ entry_point: name });
    assert.equal((await a.read()).error.code, -32602);
  }
});

test("parallel calls, and a console that can't spoil the protocol", async (t) => {
  const a = new Agent(t, `serve(async (task, tools) => {
    console.log("a print");
    process.stdout.write("a write");
    const rs = await Promise.all([...Array(200).keys()].map((i) => tools.call("t", { i, pad: "x".repeat(5000) })));
    return rs.map((r) => r.text).join(" ");
  });`);
  await a.start();
  a.run();
  const calls = [];
  for (let i = 0; i < 200; i++) calls.push(await a.read());
  for (const c of calls.reverse()) a.answer(c, { text: String(c.params.args.i) });
  assert.equal((await a.read()).result.response, [...Array(200).keys()].join(" "));
  assert.match(a.log, /a print\na write/);
});

test("tool errors", async (t) => {
  const a = new Agent(t, `serve(async (task, tools) => {
    const r = await tools.call("t");
    try { check(r); } catch (e) { return [r.isError, e.message, e instanceof ToolError, e.result === r].join(" "); }
  });`);
  await a.start();
  a.run();
  a.answer(await a.read(), { text: "no", is_error: true });
  assert.equal((await a.read()).result.response, "true no true true");
  a.run(); // no answer at all: the owner is the harness's
  a.send({ id: (await a.read()).id, error: { code: -32003, message: "broke", data: { owner: "world" } } });
  assert.deepEqual((await a.read()).error, { code: -32000, message: "broke", data: { owner: "world" } });
});

test("numbers and texts", async (t) => {
  const a = new Agent(t, `serve(async (task, tools) => {
    const r = await tools.call("t", task.input);
    return { response: r.text, state: r.structured };
  });`);
  await a.start();
  const input = '{"n":12345678901234567890,"s":"\\ud83d"}';
  a.raw(`{"jsonrpc":"2.0","id":2,"method":"run","params":{"input":${input}}}`);
  const line = await a.line();
  assert.ok(line.includes(`"args":${input}}`), line);
  a.raw(`{"jsonrpc":"2.0","id":${JSON.parse(line).id},"result":{"text":{"$bytes":"/w=="},"structured":${input}}}`);
  assert.equal(await a.line(), `{"jsonrpc":"2.0","id":2,"result":{"response":"\ufffd","state":${input}}}`);
});

test("arguments of a model", async (t) => {
  const a = new Agent(t, `serve(async (task, tools) => {
    for (const args of task.input) await tools.callJson("t", args);
  });`);
  await a.start();
  a.run({ input: ['{"b": 1.0,\n "a":1e400, "a":"\ud83d"}', '{"broken', '{"n": NaN}', '{"$text":"x"}'] });
  for (const want of ['{"b": 1.0,  "a":1e400, "a":"\\ud83d"}', '{"$text":"{\\"broken"}', '{"$text":"{\\"n\\": NaN}"}',
    '{"$text":"{\\"$text\\":\\"x\\"}"}']) {
    const line = await a.line();
    assert.ok(line.includes(`"args":${want}}`), line);
    a.answer(JSON.parse(line));
  }
  assert.deepEqual((await a.read()).result, {});
});

test("cancel, and no call after the run", async (t) => {
  const a = new Agent(t, `import { once } from "node:events";
  let kept;
  serve(async (task, tools) => {
    if (task.input === "wait") { await once(task.signal, "abort"); return "what there is"; }
    if (task.input === "late") { try { await kept.call("late"); } catch (e) { return String(e); } }
    kept = tools;
    await tools.call("t");
  });`);
  await a.start();
  a.send({ method: "cancel" }); // outside a run: nothing
  a.run({ input: "wait" });
  a.send({ method: "cancel" });
  assert.deepEqual((await a.read()).result, { response: "what there is" });
  a.run();
  const call = await a.read();
  a.send({ method: "cancel" });
  assert.equal((await a.read()).error.code, -32001);
  a.answer(call, { text: "too late" });
  a.run({ input: "late" });
  assert.equal((await a.read()).result.response, "CallError: the run has ended: no more calls");
});

test("the rules of the protocol", async (t) => {
  const a = new Agent(t, "serve(async (task, tools) => (await tools.call('t')).text);");
  a.run();
  assert.equal((await a.read()).error.code, -32600); // before initialize
  await a.start();
  a.request("unknown");
  assert.equal((await a.read()).error.code, -32601);
  a.send({ method: "unknown/notification" });
  a.send({ id: 99, result: {} }); // an answer to nothing
  a.send({ id: null, method: "run" });
  assert.equal((await a.read()).error.code, -32600);
  for (const line of ["noise", "[]", Buffer.from([0xff]), "[1234567890123456,".repeat(1e5)]) {
    a.raw(line);
    const { id, error } = await a.read();
    assert.deepEqual([id, error.code], [null, -32700]);
  }
  a.raw(" \r");
  a.request("run", { tools: 7 });
  assert.equal((await a.read()).error.code, -32602);
  a.run();
  const call = await a.read();
  a.run();
  assert.equal((await a.read()).error.code, -32600); // a run during a run
  a.answer(call, { text: "done" });
  assert.deepEqual((await a.read()).result, { response: "done" });
  a.send({ id: "bye", method: "shutdown" });
  assert.deepEqual(await a.read(), { jsonrpc: "2.0", id: "bye", result: null });
  assert.equal(await a.exited, 0);
});

test("the end of the input", async (t) => {
  const idle = new Agent(t, "serve(() => {}); setInterval(() => {}, 1000);");
  idle.process.stdin.end();
  assert.equal(await idle.exited, 0);
  const deaf = new Agent(t, "serve(async (task, tools) => { await tools.call('t'); await new Promise(() => {}); });");
  await deaf.start();
  deaf.run();
  deaf.answer(await deaf.read());
  deaf.process.stdin.end(); // in a run that looks at nothing
  assert.equal(await deaf.exited, 1);
});
