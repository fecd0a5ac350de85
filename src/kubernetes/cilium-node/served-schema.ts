// Determines which fields of a CiliumNode this cluster's API server keeps. It reads the definition and never installs
// one.
import { type ApiRefusal, ask } from '../transport/api-reply.ts';
import { type Json, type JsonObject, listAt, memberOf, textAt, valueAt } from '../../runtime/json.ts';
import { anything, prune, schemaAt, type StructuralSchema, structuralSchema } from './structural-schema.ts';
import { type KubernetesTransport, slowReadTimeout } from '../transport/transport.ts';

const definitionPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io';
const version = 'v2';

const value = anything;

function object(fields: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  return { fields: new Map(Object.entries(fields)), open: false };
}

function values(...names: readonly string[]): Readonly<Record<string, StructuralSchema>> {
  return Object.fromEntries(names.map((name) => [name, value] as const));
}

function mapOf(entries: StructuralSchema): StructuralSchema {
  return { fields: new Map(), entries, open: false };
}

function listOf(items: StructuralSchema): StructuralSchema {
  return { fields: new Map(), items, open: false };
}

const eni = object({
  ...values('id', 'ip', 'mac', 'availability-zone', 'description', 'number'),
  addresses: listOf(value),
  prefixes: listOf(value),
  'security-groups': listOf(value),
  subnet: object(values('id', 'cidr')),
  tags: mapOf(value),
  vpc: object({ ...values('id', 'primary-cidr'), cidrs: listOf(value) }),
});

const azureInterface = object({
  ...values('id', 'name', 'mac', 'state', 'security-group', 'GatewayIP', 'gateway', 'cidr'),
  addresses: listOf(object(values('ip', 'subnet', 'state'))),
});

const alibabaEni = object({
  ...values('network-interface-id', 'mac-address', 'type', 'instance-id', 'zone-id', 'primary-ip-address'),
  'security-groupids': listOf(value),
  vpc: object(values('vpc-id', 'cidr', 'ipv6-cidr')),
  vswitch: object(values('vswitch-id', 'cidr', 'ipv6-cidr')),
  'private-ipsets': listOf(object(values('private-ip-address', 'primary'))),
  tags: mapOf(value),
});

/**
 * The fields that we write and that every CiliumNode definition in use has. Newer fields (public-ip, ipv6-prefixes,
 * assigned-static-ip) are absent: an API server that does not know them drops them, and we would send the same difference again
 * and again.
 */
const assumedSchema = object({
  spec: object({
    ipam: object({ ...values('pre-allocate'), pool: mapOf(object(values('owner', 'resource'))) }),
  }),
  status: object({
    eni: object({ enis: mapOf(eni) }),
    azure: object({ interfaces: listOf(azureInterface) }),
    'alibaba-cloud': object({ enis: mapOf(alibabaEni) }),
    ipam: object({
      'operator-status': object(values('error')),
      'release-ips': mapOf(value),
    }),
  }),
});

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
