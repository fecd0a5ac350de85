// JSON Schemas of the answers that commands print with --output=json, made from the types of those answers.
import { createGenerator } from 'ts-json-schema-generator';
import type { JsonSchema } from './json-schema.ts';

/** The command, and the type of its answer in outputs.ts. */
const outputs = {
  status: 'Status',
  explain: 'Explain',
  check: 'Check',
  'max-pods': 'MaxPods',
  plan: 'Plan',
  snapshot: 'Snapshot',
} as const;

type Output = keyof typeof outputs;

export const outputNames = Object.keys(outputs) as readonly Output[];

/** Members that the type does not have are allowed: later versions add some. */
export function outputSchema(output: Output): JsonSchema {
  const root = new URL('../', import.meta.url).pathname;
  const schema = createGenerator({
    path: `${root}docs/outputs.ts`,
    tsconfig: `${root}tsconfig.json`,
    type: outputs[output],
    topRef: false,
    // tsc checks the types.
    skipTypeCheck: true,
    additionalProperties: true,
  }).createSchema(outputs[output]);
  return { title: `headwater ${output}${output === 'snapshot' ? '' : ' --output=json'}`, ...schema };
}
