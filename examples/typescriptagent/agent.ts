// A whole agent on the TypeScript client: it solves the suite calc by rules instead of a model.
//
//   scripts/build-ts-client.sh
//   tooleval run --suite calc --agent 'cmd:node examples/typescriptagent/agent.js' --runs 3

// With the package installed this is from "tooleval-agent".
import { serve, type Result, type Task, type ToolResult, type Tools } from "../../clients/typescript/dist/index.js";

async function arithmetic(task: Task, tools: Tools): Promise<Result> {
  const question = /What is ([-+*\/(). \d]+)\?/.exec(task.description);
  if (!question) return { response: "I see nothing to compute." };
  return answer(await tools.call("calculate", { expression: question[1]!.trim() }));
}

async function convert(task: Task, tools: Tools): Promise<Result> {
  const question = /How many (\w+?)s? are ([\d.]+) (\w+?)s?\?/.exec(task.description);
  if (!question) return { response: "I see nothing to convert." };
  const [, to, value, from] = question;
  return answer(await tools.call("convert", { value: Number(value), from, to }));
}

function answer(result: ToolResult): Result {
  return result.isError ? { response: result.text } : { response: result.text, state: result.structured };
}

serve({ "calc.arithmetic": arithmetic, "calc.convert": convert });
