// Determines which fields of a CiliumNode this cluster's API server keeps. It reads the definition and never installs
// one.
import { ask, type ApiRefusal } from '../transport/api-reply.ts';
import { assumedSchema } from './assumed-schema.ts';
import { type Json, type JsonObject, listAt, memberOf, textAt, valueAt } from '../../runtime/json.ts';
import { prune, schemaAt, type StructuralSchema, structuralSchema } from './structural-schema.ts';
import { type KubernetesTransport, slowReadTimeout } from '../transport/transport.ts';

const definitionPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io';
const version = 'v2';

/** Where the schema comes from. */
export type SchemaSource =
  | { readonly kind: 'served' }
  /** The definition is unreadable; `reason` says why and what to do. We write only fields that all versions have. */
  | { readonly kind: 'assumed'; readonly reason: string; readonly mayPass: boolean };

export class ServedSchema {
  readonly source: SchemaSource;
  readonly #schema: StructuralSchema;

  constructor(schema: StructuralSchema, source: SchemaSource) {
    this.source = source;
    this.#schema = schema;
  }

  /**
   * The part of `value` that the server keeps at `path`, such as `['status']`; undefined when it keeps nothing. Prune
   * the desired state before you compare it with the current one, or the difference never closes.
   */
  prune(value: Json, path: readonly string[]): Json | undefined {
    const schema = schemaAt(this.#schema, path);
    return schema && prune(value, schema);
  }

  /** Whether the server keeps a value at `path`. */
  knows(path: readonly string[]): boolean {
    return schemaAt(this.#schema, path) !== undefined;
  }
}

/** Reads the definition. Rejects only with the signal's reason. */
export async function readServedSchema(
  transport: KubernetesTransport,
  signal: AbortSignal,
): Promise<ServedSchema> {
  const request = { method: 'GET', path: definitionPath, timeoutMs: slowReadTimeout } as const;
  const reply = await ask(transport, request, signal);
  if (reply.kind !== 'ok') return assumed(reasonOf(reply), reply.kind === 'unavailable');
  const served = servedVersion(reply.object);
  if (served === undefined) return assumed(`the definition does not serve ${version}`);
  const schema = valueAt(served, 'schema', 'openAPIV3Schema');
  if (schema === undefined) return assumed(`the definition gives no schema for ${version}`);
  return new ServedSchema(structuralSchema(schema), { kind: 'served' });
}

/** `mayPass`: whether a retry may succeed. */
function assumed(reason: string, mayPass = false): ServedSchema {
  return new ServedSchema(assumedSchema, { kind: 'assumed', reason, mayPass });
}

function servedVersion(definition: JsonObject): Json | undefined {
  return listAt(definition, 'spec', 'versions').find(
    (entry) => textAt(entry, 'name') === version && memberOf(entry, 'served') === true,
  );
}

function reasonOf(refusal: ApiRefusal): string {
  if (refusal.kind === 'denied') {
    return `may not get customresourcedefinitions of apiextensions.k8s.io: ${refusal.message}`;
  }
  if (refusal.kind === 'gone')
    return `the cluster has no definition ciliumnodes.cilium.io: install Cilium, which registers it (${refusal.message})`;
  return refusal.message;
}
