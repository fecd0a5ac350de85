// Namespaces. A deleted one stays until its finalizers are removed through its `finalize` subresource.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/namespace-v1/
import { type JsonObject, textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { metadataUpdateErrors } from '../objects/metadata-rules.ts';
import { dnsLabel } from '../objects/names.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { ageColumn, nameColumn } from '../printing/table-column.ts';
import { text, texts, time } from '../schema/scalars.ts';
import { always, list, struct } from '../schema/wire-shape.ts';
import { builtInType, unknownOwnField } from './built-in-type.ts';
import type { ResourceType } from './resource-type.ts';

const condition = struct('NamespaceCondition', {
  type: always(text),
  status: always(text),
  lastTransitionTime: always(time),
  reason: text,
  message: text,
});

const nameLabel = 'kubernetes.io/metadata.name';

export const namespaces: ResourceType = builtInType({
  names: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', shortNames: ['ns'] },
  namespaced: false,
  nameRule: dnsLabel,
  fields: {
    spec: always(struct('NamespaceSpec', { finalizers: texts })),
    status: always(struct('NamespaceStatus', { phase: text, conditions: list(condition) })),
  },
  fill: labelled,
  prepareCreate: (object) => ({
    ...labelled(object),
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (next, current) => ({
    ...next,
    spec: part(current, 'spec'),
    status: part(current, 'status'),
  }),
  deletion: {
    waits: (object) => valueAt(object, 'spec', 'finalizers') !== undefined,
    mark: (object) => ({ ...object, status: { ...part(object, 'status'), phase: 'Terminating' } }),
  },
  subresources: {
    status: {
      prepare: (next, current) => ({ ...next, spec: part(current, 'spec') }),
      validate: (next, current) => metadataUpdateErrors(next.metadata, current.metadata),
    },
    finalize: {
      prepare: (next, current) => ({ ...next, status: part(current, 'status') }),
      validate: (next, current) => metadataUpdateErrors(next.metadata, current.metadata),
    },
  },
  selectableFields: [{ name: 'status.phase', valueOf: (object) => textAt(object, 'status', 'phase') }],
  unknownFieldText: unknownOwnField,
  columns: [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      format: '',
      description: 'The status of the namespace',
      priority: 0,
      cell: (object) => textAt(object, 'status', 'phase'),
    },
    ageColumn,
  ],
});

function part(object: KubernetesObject, name: string): JsonObject {
  return (object[name] ?? {}) as JsonObject;
}

/** Every namespace is labelled with its name, so that selectors can find it. */
function labelled(object: KubernetesObject): KubernetesObject {
  const { name, labels } = object.metadata;
  return name === undefined ? object : withMetadata(object, { labels: { ...labels, [nameLabel]: name } });
}
