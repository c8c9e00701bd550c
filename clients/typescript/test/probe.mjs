// The agent that `tooleval agents check` exercises in full: it makes the calls that the task lists.
import { serve } from "../dist/index.js";

serve(async (task, tools) => {
  const { calls, parallel } = task.input;
  const results = [];
  if (parallel) results.push(...(await Promise.all(calls.map((c) => tools.call(c.tool, c.args)))));
  else for (const c of calls) results.push(await tools.call(c.tool, c.args));
  return results.at(-1)?.text;
});
