// Which fields of a CiliumNode this cluster's API server keeps. It only reads the definition; installing one is not ours.
import { ask, type Refusal } from './api-reply.ts';
import { assumedSchema } from './assumed-schema.ts';
import { isList, type Json, type JsonObject, memberOf, textAt, valueAt } from './json.ts';
import { prune, schemaAt, type StructuralSchema, structuralSchema } from './structural-schema.ts';
import type { KubernetesTransport } from './transport.ts';

const definitionPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io';
const version = 'v2';

/** Where the knowledge comes from. */
export type SchemaSource =
  | { readonly kind: 'served' }
  /** The definition could not be read; `reason` says why and what to do. Only fields that all versions have are written. */
  | { readonly kind: 'assumed'; readonly reason: string; readonly mayPass: boolean };

export class ServedSchema {
  readonly source: SchemaSource;
  readonly #schema: StructuralSchema;

  constructor(schema: StructuralSchema, source: SchemaSource) {
    this.source = source;
    this.#schema = schema;
  }

  /**
   * What the server would keep of `value` at `path`, such as `['status']`; undefined when nothing. Use it on what is
   * wanted before it is compared with what is there, else the difference never closes.
   */
  prune(value: Json, path: readonly string[]): Json | undefined {
    const schema = schemaAt(this.#schema, path);
    return schema && prune(value, schema);
  }

  /** Whether the server keeps what is written at `path`. */
  knows(path: readonly string[]): boolean {
    return schemaAt(this.#schema, path) !== undefined;
  }
}

/** Reads the definition. Rejects only with the signal's reason. */
export async function readServedSchema(
  transport: KubernetesTransport,
  signal: AbortSignal,
): Promise<ServedSchema> {
  const reply = await ask(transport, { method: 'GET', path: definitionPath }, signal);
  if (reply.kind !== 'ok') return assumed(reasonOf(reply), reply.kind === 'unavailable');
  const served = servedVersion(reply.object);
  if (served === undefined) return assumed(`the definition does not serve ${version}`);
  const schema = valueAt(served, 'schema', 'openAPIV3Schema');
  if (schema === undefined) return assumed(`the definition gives no schema for ${version}`);
  return new ServedSchema(structuralSchema(schema), { kind: 'served' });
}

/** `mayPass`: whether another try a moment later may succeed. */
function assumed(reason: string, mayPass = false): ServedSchema {
  return new ServedSchema(assumedSchema, { kind: 'assumed', reason, mayPass });
}

function servedVersion(definition: JsonObject): Json | undefined {
  const versions = valueAt(definition, 'spec', 'versions');
  if (!isList(versions)) return undefined;
  return versions.find((entry) => textAt(entry, 'name') === version && memberOf(entry, 'served') === true);
}

function reasonOf(refusal: Refusal): string {
  if (refusal.kind === 'denied') {
    return `may not get customresourcedefinitions of apiextensions.k8s.io: ${refusal.message}`;
  }
  if (refusal.kind === 'gone')
    return `the cluster has no definition ciliumnodes.cilium.io: ${refusal.message}`;
  return refusal.message;
}
