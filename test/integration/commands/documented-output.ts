// Whether what a command prints with --output=json is what docs/output/ says of it.
import { readFileSync } from 'node:fs';
import * as z from 'zod';

type Schema = Parameters<typeof z.fromJSONSchema>[0];

/** Why an answer differs from its schema, with no members but those of the schema; undefined if it is as documented, or no JSON. */
export function undocumentedIn(command: string, answer: string): string | undefined {
  if (!answer.startsWith('{')) return undefined;
  const url = new URL(`../../../docs/output/${command}.schema.json`, import.meta.url);
  const schema = closed(JSON.parse(readFileSync(url, 'utf8')));
  const { error } = z.fromJSONSchema(schema as Schema).safeParse(JSON.parse(answer));
  return error === undefined ? undefined : z.prettifyError(error);
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return 'properties' in inner && inner['type'] === 'object'
    ? { ...inner, additionalProperties: false }
    : inner;
}
