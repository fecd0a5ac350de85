// Building blocks of the CiliumNode schema.
import type { StructuralSchema } from './schema/structural-schema.ts';

export const text: StructuralSchema = { type: 'string' };
export const texts: StructuralSchema = { type: 'array', items: text };
export const textByName: StructuralSchema = { type: 'object', additionalProperties: text };
export const integer: StructuralSchema = { type: 'integer' };
export const count: StructuralSchema = { type: 'integer', minimum: 0 };
export const flag: StructuralSchema = { type: 'boolean' };

export function struct(properties: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  return { type: 'object', properties };
}

export function listOf(items: StructuralSchema): StructuralSchema {
  return { type: 'array', items };
}

export function mapOf(values: StructuralSchema): StructuralSchema {
  return { type: 'object', additionalProperties: values };
}

/** The owner of an address and its interface. */
export const allocationByAddress: StructuralSchema = mapOf(struct({ owner: text, resource: text }));

export function described(description: string, schema: StructuralSchema): StructuralSchema {
  return { ...schema, description };
}
