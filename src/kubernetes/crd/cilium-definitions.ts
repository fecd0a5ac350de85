// The definitions of CiliumNodes and CiliumPodIPPools that Headwater creates where Cilium's are absent. Their version is below any of
// Cilium's, so a cilium-operator that starts later replaces them by its own.
import type { JsonObject } from '../../runtime/json.ts';

/** Cilium compares it before it replaces a definition. */
export const versionLabel = 'io.cilium.k8s.crd.schema.version';
export const managerLabel = 'app.kubernetes.io/managed-by';
export const manager = 'headwater';
export const definitionVersion = '0.0.3';

export const definitionLabels = { [versionLabel]: definitionVersion, [managerLabel]: manager };

const text = { type: 'string' };

/** An object with these fields and any others. */
function open(properties: JsonObject): JsonObject {
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties };
}

/** A kind of Cilium, which its clients know by the version. */
interface CiliumKind {
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly version: string;
  /** Properties of the schema, without `apiVersion`, `kind` and `metadata`. */
  readonly properties: JsonObject;
  /** Further fields of the version in the definition. */
  readonly extras?: JsonObject;
}

function definitionOf({ kind, shortNames, version, properties, extras }: CiliumKind): JsonObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const schema = {
    type: 'object',
    required: ['metadata', 'spec'],
    properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, ...properties },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.cilium.io`, labels: definitionLabels },
    spec: {
      group: 'cilium.io',
      scope: 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: ['cilium'] },
      versions: [
        { name: version, served: true, storage: true, ...extras, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
}

const nodeAddress = open({ type: text, ip: text });

const flag = { type: 'boolean' };

const listedPool = {
  ...open({
    pool: text,
    cidrs: { type: 'array', items: text },
    allowFirstIP: flag,
    allowLastIP: flag,
  }),
  required: ['pool'],
};

const nodeSpec = open({
  'instance-id': text,
  addresses: { type: 'array', items: nodeAddress },
  ipam: open({
    podCIDRs: { type: 'array', items: text },
    pools: open({
      requested: { type: 'array', items: { ...open({ pool: text }), required: ['pool'] } },
      allocated: { type: 'array', items: listedPool },
    }),
  }),
});

const nodeStatus = open({ ipam: open({ 'operator-status': open({ error: text }) }) });

function addressColumn(type: string): JsonObject {
  return { name: type, type: 'string', jsonPath: `.spec.addresses[?(@.type=="${type}")].ip` };
}

/** It describes what blocks need, and keeps every other field, so that agents of any version can write what they do. */
export const ciliumNodeDefinition = definitionOf({
  kind: 'CiliumNode',
  shortNames: ['cn', 'ciliumn'],
  version: 'v2',
  properties: { spec: nodeSpec, status: nodeStatus },
  extras: {
    subresources: { status: {} },
    additionalPrinterColumns: [
      addressColumn('CiliumInternalIP'),
      addressColumn('InternalIP'),
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  },
});

function networks(width: number): JsonObject {
  return {
    ...open({
      cidrs: { type: 'array', minItems: 1, items: text },
      maskSize: {
        type: 'integer',
        minimum: 1,
        maximum: width,
        'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'maskSize cannot be changed' }],
      },
    }),
    required: ['cidrs', 'maskSize'],
  };
}

/** Absent means false. Older pools of Headwater have these fields in each family, where they stay as they are. */
function isFixed(field: string): JsonObject {
  const valueIn = (object: string): string => `(has(${object}.${field}) && ${object}.${field})`;
  return { rule: `${valueIn('self')} == ${valueIn('oldSelf')}`, message: `${field} cannot be changed` };
}

const selector = open({
  matchLabels: { type: 'object', additionalProperties: text },
  matchExpressions: {
    type: 'array',
    items: {
      ...open({ key: text, operator: text, values: { type: 'array', items: text } }),
      required: ['key', 'operator'],
    },
  },
});

const poolSpec = {
  ...open({
    ipv4: networks(32),
    ipv6: networks(128),
    allowFirstIP: flag,
    allowLastIP: flag,
    podSelector: selector,
    namespaceSelector: selector,
  }),
  'x-kubernetes-validations': [isFixed('allowFirstIP'), isFixed('allowLastIP')],
};

/** The parts that decide the size of blocks never change: nodes have blocks of that size. */
export const ciliumPodIpPoolDefinition = definitionOf({
  kind: 'CiliumPodIPPool',
  shortNames: ['cpip'],
  version: 'v2alpha1',
  properties: { spec: poolSpec },
});
