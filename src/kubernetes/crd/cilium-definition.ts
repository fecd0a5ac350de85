// The common form of the definitions that Headwater creates where Cilium's are absent. Their version is below any of
// Cilium's, so a cilium-operator that starts later replaces them by its own.
import type { JsonObject } from '../../runtime/json.ts';

/** Cilium compares it before it replaces a definition. */
export const versionLabel = 'io.cilium.k8s.crd.schema.version';
export const managerLabel = 'app.kubernetes.io/managed-by';
export const manager = 'headwater';
export const definitionVersion = '0.0.3';

export const definitionLabels = { [versionLabel]: definitionVersion, [managerLabel]: manager };

export const text = { type: 'string' };

/** An object with these fields and any others. */
export function open(properties: JsonObject): JsonObject {
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

export function definitionOf({ kind, shortNames, version, properties, extras }: CiliumKind): JsonObject {
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
