// Pieces of JSON Schema whose refusals read as sentences: Helm prints what a schema wanted, never why.

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What `schema` accepts; anything else is refused by "value must be" and these words. */
export function accepting(schema: JsonSchema, words: string): JsonSchema {
  return { if: schema, else: { const: words } };
}

/** Refuses every value, by "value must be" and these words. */
export function never(words: string): JsonSchema {
  return { const: words };
}

/** Refuses an object without one of these, by the first: Helm takes a key away whose value a file leaves empty. */
export function refusingGaps(names: readonly string[], rest: JsonSchema = {}): JsonSchema {
  return names.reduceRight<JsonSchema>((others, name) => {
    const words = `one in which ${name} is not empty: without that line it has its default`;
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    return { if: { required: [name] }, then: others, else: never(words) };
  }, rest);
}

export interface ConflictingValues {
  /** The values at these paths are so: `serve.bind`. */
  readonly where: Readonly<Record<string, JsonSchema>>;
  /** Then the value here is refused, */
  readonly path: string;
  /** in these words. */
  readonly words: string;
}

/** Refuses by the first that holds: Helm prints several as a tree. */
export function refusing(conflicts: readonly ConflictingValues[], others: JsonSchema = {}): JsonSchema {
  return conflicts.reduceRight<JsonSchema>((rest, { where, path, words }) => {
    const isSo = Object.entries(where).map(([each, schema]) => at(each.split('.'), schema, true));
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    return { if: { allOf: isSo }, then: at(path.split('.'), never(words), false), else: rest };
  }, others);
}

/** `isRequired`: whether a value that is not there fails. */
function at([name, ...rest]: readonly string[], schema: JsonSchema, isRequired: boolean): JsonSchema {
  if (name === undefined) return schema;
  return { properties: { [name]: at(rest, schema, isRequired) }, ...(isRequired && { required: [name] }) };
}

/** An object that has no other keys than these; others are refused by `otherwise`, which says where the keys are. */
export function closedObject(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  otherwise = 'left out: the chart has no such value (helm show values lists them)',
): JsonSchema {
  return { description, type: 'object', additionalProperties: never(otherwise), properties };
}
