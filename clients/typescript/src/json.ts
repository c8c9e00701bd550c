// JSON with exact integers: JSON.parse reads 12345678901234567890 as 12345678901234567000. Here an integer beyond
// Number.MAX_SAFE_INTEGER is a bigint, and a bigint is written with all of its digits.

/** What decode gives and encode takes. Members that are undefined are left out. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json | undefined };

/** Reads JSON. Throws SyntaxError, or RangeError when it is nested too deeply. */
export function decode(text: string): Json {
  const value = JSON.parse(text) as Json; // says what is wrong, if anything
  return /\d{16}/.test(text) ? new Reader(text).value() : value;
}

// Reader reads JSON that is known to be valid.
class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  value(): Json {
    switch (this.peek()) {
      case "{":
        return this.object();
      case "[":
        return this.array();
      case '"':
        return this.string();
    }
    const token = this.take(/[^\s,\]}]+/y);
    if (/^-?\d+$/.test(token)) {
      const n = Number(token);
      return Number.isSafeInteger(n) ? n : BigInt(token);
    }
    return JSON.parse(token) as Json;
  }

  private object(): Json {
    const out: { [key: string]: Json } = {};
    this.at++;
    while (this.peek() !== "}") {
      const key = this.string();
      this.peek();
      this.at++; // the colon
      // A plain assignment to __proto__ would not make a member.
      Object.defineProperty(out, key, { value: this.value(), enumerable: true, writable: true, configurable: true });
      if (this.peek() === ",") this.at++, this.peek();
    }
    this.at++;
    return out;
  }

  private array(): Json {
    const out: Json[] = [];
    this.at++;
    while (this.peek() !== "]") {
      out.push(this.value());
      if (this.peek() === ",") this.at++;
    }
    this.at++;
    return out;
  }

  private string(): string {
    const start = this.at++;
    for (;;) {
      const end = this.text.indexOf('"', this.at);
      let slashes = 0;
      while (this.text[end - 1 - slashes] === "\\") slashes++;
      this.at = end + 1;
      if (slashes % 2 === 0) return JSON.parse(this.text.slice(start, this.at)) as string;
    }
  }

  private peek(): string | undefined {
    this.take(/\s*/y);
    return this.text[this.at];
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}

/** Writes JSON on one line. Throws TypeError for what is none: NaN, a function, a loop. */
export function encode(value: unknown): string {
  return write(value, []);
}

function write(value: unknown, outer: object[]): string {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is no JSON value`);
      return JSON.stringify(value);
    case "string":
    case "boolean":
      return JSON.stringify(value); // which escapes lone surrogates
    case "object":
      break;
    default:
      throw new TypeError(`${typeof value} is no JSON value`);
  }
  if (value === null) return "null";
  if (outer.includes(value)) throw new TypeError("a value that holds itself is no JSON value");
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON(), outer);
  const path = [...outer, value];
  if (Array.isArray(value)) return `[${value.map((v) => write(v, path)).join(",")}]`;
  const members = Object.entries(value).filter(([, v]) => v !== undefined);
  return `{${members.map(([k, v]) => `${JSON.stringify(k)}:${write(v, path)}`).join(",")}}`;
}
