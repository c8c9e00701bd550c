// An agent for ToolEval in one function:
//
//   import { serve } from "tooleval-agent";
//
//   serve(async (task, tools) => {
//     const answer = await tools.call("calculate", { expression: "6 * 7" });
//     return { response: answer.text, state: answer.structured };
//   });
//
// ToolEval starts the program (tooleval run --agent 'cmd:node agent.js') and talks to it over standard input and output
// in the protocol of docs/protocol.md. Nothing but Node is needed.
//
// Limits: numbers with a decimal point are doubles; integers keep all of their digits, as bigint where a number would
// lose some. A run that never gives the event loop a turn sees no cancel and is ended by the harness. What a child
// process writes to an inherited standard output is noise in the protocol: give it "pipe" or "ignore".

import { basename } from "node:path";

import { decode, encode, type Json } from "./json.js";

export { decode, encode, type Json } from "./json.js";

/** A tool that the task offers. The schema is a JSON Schema of type object; absent: any object. */
export interface Tool {
  name: string;
  description: string;
  inputSchema?: Json;
}

/** What a tool answered: text as a model reads it, the same as data if it has any, and whether the tool said no. */
export interface ToolResult {
  text: string;
  structured?: Json | Uint8Array;
  isError: boolean;
}

/** One task. The input is undefined when the description says it all. */
export interface Task {
  taskId: string;
  description: string;
  entryPoint: string;
  input?: Json | Uint8Array;
  tools: Tool[];
  /** Is aborted when the run is to stop. */
  signal: AbortSignal;
}

/** What a run used. Absent is unknown, 0 is none. */
export interface Usage {
  model?: string;
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  turns?: number;
  costUsd?: number;
  vendor?: Json;
}

/** The outcome of a run; every member may be absent. A state of null is a value. */
export interface Result {
  response?: string;
  state?: unknown;
  usage?: Usage;
  /** Why the harness may not have seen every tool call, for an agent that has tools of its own. */
  incomplete?: string;
  warnings?: string[];
}

/** A user's function. A string is the response; undefined is an empty result. */
export type Run = (task: Task, tools: Tools) => Promise<Result | string | void> | Result | string | void;

export type Owner = "agent" | "infra" | "user";

/** Ends a run and says whose fault it is: infra is a rate limit or a network that is gone, user a missing key. Only the
 * agent's own faults are scored. */
export class Blame extends Error {
  constructor(readonly owner: Owner, message: string, options?: ErrorOptions) {
    if (!["agent", "infra", "user"].includes(owner)) throw new RangeError(`owner ${owner}: it is agent, infra or user`);
    super(message, options);
    this.name = "Blame";
  }
}

/** The tool said no. Thrown by check alone. */
export class ToolError extends Error {
  constructor(readonly result: ToolResult) {
    super(result.text);
    this.name = "ToolError";
  }
}

/** A call had no answer, since the harness or the world broke or the request was wrong. Let it pass: it ends the run with
 * the owner that the harness named. */
export class CallError extends Error {
  constructor(message: string, readonly code = 0, readonly owner?: string) {
    super(message);
    this.name = "CallError";
  }
}

/** The run is to stop. Thrown by the calls of a cancelled run; let it pass, or return what there is. */
export class Cancelled extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Cancelled";
  }
}

/** The result itself; throws ToolError when the tool said no. */
export function check(result: ToolResult): ToolResult {
  if (result.isError) throw new ToolError(result);
  return result;
}

const maxLine = 64 << 20; // bytes
const endGrace = 1000; // milliseconds that a run has to stop once the harness has gone

type Members = { [key: string]: Json | undefined };
type Id = string | number | bigint;

interface Waiting {
  resolve: (r: ToolResult) => void;
  reject: (e: Error) => void;
}

/** The way to the tools of one run. Calls may be made in parallel. Any name may be called: a tool that the task does not
 * offer answers with isError. Once the run has ended every call is rejected with CallError. */
export class Tools {
  private readonly open = new Map<number, Waiting>();
  private ended?: Error;

  /** @internal */
  constructor(private readonly nextId: () => number, private readonly send: (line: string) => void) {}

  /** Calls a tool with any JSON value. The id is the model's own name for the call. */
  call(tool: string, args: unknown = {}, id?: string): Promise<ToolResult> {
    return this.start(tool, () => encode(wrap(args)), id);
  }

  /** Calls a tool with arguments as a model wrote them, byte for byte. Text that is no JSON is recorded as what it is. */
  callJson(tool: string, args: string, id?: string): Promise<ToolResult> {
    return this.start(tool, () => spell(args), id);
  }

  private start(tool: string, args: () => string, id?: string): Promise<ToolResult> {
    return new Promise((resolve, reject) => {
      const named = id === undefined ? "" : `,"id":${encode(id)}`;
      const params = `{"tool":${encode(tool)}${named},"args":${args()}}`;
      if (this.ended) throw this.ended;
      const number = this.nextId();
      this.open.set(number, { resolve, reject });
      this.send(`{"jsonrpc":"2.0","id":${number},"method":"tools/call","params":${params}}`);
    });
  }

  /** @internal */
  answer(message: Members): void {
    const waiting = typeof message.id === "number" ? this.open.get(message.id) : undefined;
    if (!waiting) return;
    this.open.delete(message.id as number);
    if (message.error !== undefined) return waiting.reject(callError(message.error));
    try {
      const r = members(message.result ?? {}, "the result");
      waiting.resolve({
        text: text(r.text ?? ""),
        ...(r.structured === undefined ? {} : { structured: unwrap(r.structured) }),
        isError: r.is_error === true,
      });
    } catch (e) {
      waiting.reject(new CallError(`the answer to a tool call is malformed: ${say(e)}`));
    }
  }

  /** @internal */
  drop(why: Error): void {
    const left = [...this.open.values()];
    this.open.clear();
    for (const waiting of left) waiting.reject(why);
  }

  /** @internal */
  end(why: Error): void {
    this.ended = why;
    this.drop(why);
  }
}

/** Serves runs until the harness ends the conversation, and then ends the process. One function serves every entry point;
 * an object has one for each. From here on console.log and process.stdout go to standard error. Call it once. */
export function serve(run: Run | Record<string, Run>, about: { name?: string; version?: string } = {}): void {
  if (typeof run !== "function" && (typeof run !== "object" || run === null || Object.keys(run).length === 0)) {
    throw new TypeError("serve: want a function or an object of functions");
  }
  const name = about.name || basename(process.argv[1] ?? "node").replace(/\.[cm]?[jt]s$/, "");
  if (process.stdin.isTTY) {
    console.error(`${name} is an agent; a harness starts it and speaks ToolEval's stdio protocol with it`);
    process.exit(2);
  }
  const out = process.stdout.write.bind(process.stdout);
  process.stdout.on("error", () => process.exit(1)); // nobody reads any more
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const conversation = new Conversation(run, name, about.version, (line, done) => void out(`${line}\n`, done));

  let parts: Buffer[] = [];
  let size = 0;
  process.stdin.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end; (end = chunk.indexOf(10, start)) >= 0; start = end + 1) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end)]);
      parts = [];
      size = 0;
      conversation.take(line);
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxLine) conversation.stop();
  });
  process.stdin.on("end", () => conversation.stop());
  process.stdin.on("error", () => conversation.stop());
}

class Conversation {
  private current?: { tools: Tools; abort: AbortController };
  private initialized = false;
  private stopped = false;
  private lastId = 0;

  constructor(
    private readonly runs: Run | Record<string, Run>,
    private readonly name: string,
    private readonly version: string | undefined,
    private readonly write: (line: string, done?: () => void) => void,
  ) {}

  /** Ends the process: at once, or when the run has stopped. The harness has gone, so a run must not outlive it. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    if (!this.current) return this.exit(0);
    this.cancel("the harness has gone");
    setTimeout(() => process.exit(1), endGrace);
  }

  private exit(status: number): void {
    setTimeout(() => process.exit(status), endGrace); // when the output is never read
    this.write("", () => process.exit(status)); // behind everything that is still to be written
  }

  private cancel(why: string): void {
    this.current?.tools.end(new Cancelled(why));
    this.current?.abort.abort(new Cancelled(why));
  }

  take(bytes: Buffer): void {
    if (this.stopped) return;
    let message: Members;
    try {
      const line = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      if (line.trim() === "") return;
      message = members(decode(line), "the message");
    } catch (e) {
      return this.unreadable(bytes, e);
    }
    const { id, method } = message;
    if (method === undefined) {
      this.current?.tools.answer(message);
    } else if (id === undefined) {
      if (method === "shutdown") this.stop();
      if (method === "cancel") this.cancel("the run was cancelled");
    } else if (typeof id !== "string" && typeof id !== "number" && typeof id !== "bigint") {
      this.fail(null, -32600, "the id is neither a string nor a number");
    } else if (method === "initialize") {
      this.initialized = true;
      const entryPoints = typeof this.runs === "function" ? undefined : Object.keys(this.runs);
      this.reply(id, { protocol_version: 1, name: this.name, version: this.version, entry_points: entryPoints });
    } else if (method === "shutdown") {
      this.reply(id, null);
      this.stop();
    } else if (method === "run") {
      this.run(id, message.params);
    } else {
      this.fail(id, -32601, "there is no such method");
    }
  }

  // A line that can't be read: the ones who wait for it must not wait forever.
  private unreadable(bytes: Buffer, why: unknown): void {
    const request = /^\{"jsonrpc":"2\.0","id":(\d{1,15}),"method":/.exec(bytes.toString("latin1", 0, 100));
    this.fail(request ? Number(request[1]) : null, -32700, `the line is no message: ${say(why)}`);
    if (!request) this.current?.tools.drop(new CallError(`a message of the harness can't be read: ${say(why)}`, 0, "infra"));
  }

  private run(id: Id, params: Json | undefined): void {
    if (!this.initialized) return this.fail(id, -32600, "run came before initialize");
    if (this.current) return this.fail(id, -32600, "a run is in progress");
    const abort = new AbortController();
    let task: Task;
    try {
      task = assignment(params, abort.signal);
    } catch (e) {
      return this.fail(id, -32602, `the assignment is malformed: ${say(e)}`);
    }
    let run: Run | undefined;
    if (typeof this.runs === "function") run = this.runs;
    else if (Object.hasOwn(this.runs, task.entryPoint)) run = this.runs[task.entryPoint];
    if (!run) return this.fail(id, -32602, `there is no entry point ${encode(task.entryPoint)}`);
    const tools = new Tools(() => ++this.lastId, (line) => this.write(line));
    this.current = { tools, abort };
    void this.work(id, run, task, tools);
  }

  private async work(id: Id, run: Run, task: Task, tools: Tools): Promise<void> {
    let answer: string;
    try {
      answer = `{"jsonrpc":"2.0","id":${encode(id)},"result":${encode(wire(await run(task, tools)))}}`;
    } catch (e) {
      if (!(e instanceof Blame || e instanceof Cancelled)) console.error(e);
      answer = failure(id, e, task.signal.aborted);
    }
    tools.end(new CallError("the run has ended: no more calls")); // so that no call follows the answer
    this.current = undefined;
    this.write(answer);
    if (this.stopped) this.exit(0);
  }

  private reply(id: Id, result: unknown): void {
    this.write(`{"jsonrpc":"2.0","id":${encode(id)},"result":${encode(result)}}`);
  }

  private fail(id: Id | null, code: number, message: string): void {
    this.write(encode({ jsonrpc: "2.0", id, error: { code, message } }));
  }
}

function assignment(params: Json | undefined, signal: AbortSignal): Task {
  const p = members(params, "params");
  const tools = p.tools ?? [];
  if (!Array.isArray(tools)) throw new TypeError("the tools are no list");
  return {
    taskId: text(p.task_id ?? ""),
    description: text(p.description ?? ""),
    entryPoint: text(p.entry_point ?? ""),
    ...(p.input === undefined ? {} : { input: unwrap(p.input) }),
    tools: tools.map((t) => {
      const m = members(t, "a tool");
      const schema = m.input_schema === undefined ? {} : { inputSchema: m.input_schema };
      return { name: text(m.name), description: text(m.description ?? ""), ...schema };
    }),
    signal,
  };
}

function wire(value: Result | string | void): object {
  if (value === undefined || value === null) return {};
  if (typeof value === "string") return { response: value };
  if (typeof value !== "object") throw new TypeError(`run returned a ${typeof value}: want a Result, a string or nothing`);
  const unknown = Object.keys(value).filter((k) => !["response", "state", "usage", "incomplete", "warnings"].includes(k));
  if (unknown.length > 0) throw new TypeError(`run returned unknown members: ${unknown.join(", ")}; put data into state`);
  const u = value.usage;
  return {
    response: value.response,
    state: wrap(value.state),
    usage: u && {
      model: u.model, input_tokens: u.inputTokens, output_tokens: u.outputTokens, cached_tokens: u.cachedTokens,
      turns: u.turns, cost_usd: u.costUsd, vendor: u.vendor,
    },
    evidence: value.incomplete ? { incomplete: value.incomplete } : undefined,
    warnings: value.warnings,
  };
}

function failure(id: Id, e: unknown, cancelled: boolean): string {
  let code = -32000;
  let message = say(e);
  let owner: string | undefined = "agent";
  if (e instanceof Blame) {
    ({ message, owner } = e);
  } else if (cancelled) {
    code = -32001;
    message = e instanceof Cancelled ? "cancelled" : `cancelled: ${message}`;
    owner = undefined;
  } else if (e instanceof CallError && e.owner) {
    ({ message, owner } = e);
  }
  return encode({ jsonrpc: "2.0", id, error: { code, message, data: owner && { owner } } });
}

function callError(error: Json): CallError {
  try {
    const e = members(error, "the error");
    const data = e.data === undefined || e.data === null ? {} : members(e.data, "data");
    const owner = typeof data.owner === "string" ? data.owner : undefined;
    return new CallError(text(e.message ?? ""), typeof e.code === "number" ? e.code : 0, owner);
  } catch {
    return new CallError("the harness answered with an error that is none");
  }
}

function members(value: Json | undefined, what: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError(`${what}: want an object`);
  return value;
}

/** A text of the protocol. What is no UTF-8 is replaced, since a string can't hold it. */
function text(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (wrapped(value) === "$bytes") return Buffer.from((value as { $bytes: string }).$bytes, "base64").toString("utf-8");
  throw new TypeError("want a text");
}

function wrapped(value: unknown): "$text" | "$bytes" | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  const [key, inner] = entries[0] ?? [];
  return entries.length === 1 && (key === "$text" || key === "$bytes") && typeof inner === "string" ? key : undefined;
}

// Any JSON value as it goes over the wire: one that looks like a wrapped text is wrapped itself.
function wrap(value: unknown): unknown {
  return wrapped(value) ? { $text: encode(value) } : value;
}

function unwrap(value: Json): Json | Uint8Array {
  const kind = wrapped(value);
  if (kind === "$bytes") return Buffer.from((value as { $bytes: string }).$bytes, "base64");
  if (kind !== "$text") return value;
  const inner = (value as { $text: string }).$text;
  try {
    const real = decode(inner);
    return wrapped(real) ? real : inner;
  } catch {
    return inner;
  }
}

// A model's JSON as it stands, on one line: in JSON line ends are only white space, and a lone surrogate may as well be
// escaped, so neither changes the value.
function spell(args: string): string {
  try {
    if (!wrapped(decode(args))) {
      return args.replace(/[\r\n]/g, " ").replace(/\p{Surrogate}/gu, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
    }
  } catch {
    // no JSON
  }
  return encode({ $text: args });
}

function say(e: unknown): string {
  try {
    return String(e);
  } catch {
    return "an error that can't be shown";
  }
}
