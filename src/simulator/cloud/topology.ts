// Parses a topology: the initial content and the behavior of a simulated cloud. Returns a validated topology
// or all problems at once; builds nothing.
import { parse, YAMLParseError } from 'yaml';
import type * as z from 'zod';
import { disagreements } from './topology-checks.ts';
import { type Topology, topologySchema } from './topology-schema.ts';

export type { Topology } from './topology-schema.ts';

export type ReadTopology = { readonly topology: Topology } | { readonly problems: readonly string[] };

/** Parses YAML or JSON. Each problem names the path, what is expected there and what was found. */
export function readTopology(text: string): ReadTopology {
  return readDocument(text, topologySchema, disagreements);
}

/** The cloud that a topology names; undefined for a topology of EC2, which names none, and for one that is malformed. */
export function cloudOf(text: string): string | undefined {
  const document = documentOf(text);
  if ('problem' in document || !isIndexable(document.content)) return undefined;
  const { cloud } = document.content;
  return typeof cloud === 'string' ? cloud : undefined;
}

/** The same for the topology of any cloud: its schema, and what it finds wrong across fields. */
export function readDocument<T>(
  text: string,
  schema: z.ZodType<T>,
  disagreements: (topology: T) => readonly string[],
): { readonly topology: T } | { readonly problems: readonly string[] } {
  const document = documentOf(text);
  if ('problem' in document) return { problems: [document.problem] };
  const result = schema.safeParse(document.content ?? {});
  if (!result.success)
    return { problems: result.error.issues.map((issue) => describe(issue, document.content)) };
  const problems = disagreements(result.data);
  return problems.length > 0 ? { problems } : { topology: result.data };
}

function documentOf(text: string): { readonly content: unknown } | { readonly problem: string } {
  try {
    return { content: parse(text) as unknown };
  } catch (error) {
    if (error instanceof YAMLParseError) return { problem: `not readable as YAML or JSON: ${error.message}` };
    throw error;
  }
}

function describe(issue: z.core.$ZodIssue, content: unknown): string {
  const path = issue.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('');
  const found: unknown = issue.path.reduce<unknown>(
    (value, step) => (isIndexable(value) ? value[String(step)] : undefined),
    content,
  );
  const shown = found === undefined ? 'nothing' : JSON.stringify(found);
  const short = shown.length > 80 ? `${shown.slice(0, 77)}...` : shown;
  const place = path.replace(/^\./, '') || 'topology';
  return `${place}: ${issue.message.replace(/^Invalid input: /, '')}, found ${short}`;
}

function isIndexable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
