// Types of structural schemas: the subset of JSON Schema that a CustomResourceDefinition may use.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
import type { JsonValue } from '../json-value.ts';

export type SchemaType = 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';

export interface StructuralSchema {
  readonly type?: SchemaType;
  readonly description?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: JsonValue;
  readonly enum?: readonly JsonValue[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: StructuralSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  /** Structural schemas cannot forbid other properties: `true` or a schema, never `false`. */
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/** The schema of one field of an object: its own, or that of all other fields. */
export function schemaOfField(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
