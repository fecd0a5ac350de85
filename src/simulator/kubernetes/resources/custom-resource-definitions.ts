// CustomResourceDefinitions as resources: once created, the new resource is served.
// https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
import { type FieldError, invalid, required } from '../field-error.ts';
import { isJsonArray, type JsonObject, type JsonValue, textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { immutable } from '../objects/metadata-rules.ts';
import { withMetadata } from '../objects/object-meta.ts';
import { nameColumn, type TableColumn } from '../printing/table-column.ts';
import { flag, int32, open, text, texts, time } from '../schema/scalars.ts';
import { always, given, list, struct } from '../schema/wire-shape.ts';
import { builtInType } from './built-in-type.ts';
import type { ResourceType } from './resource-type.ts';

const names = struct('CustomResourceDefinitionNames', {
  plural: always(text),
  singular: text,
  shortNames: texts,
  kind: always(text),
  listKind: text,
  categories: texts,
});

const printerColumn = struct('CustomResourceColumnDefinition', {
  name: always(text),
  type: always(text),
  format: text,
  description: text,
  priority: int32,
  jsonPath: always(text),
});

const version = struct('CustomResourceDefinitionVersion', {
  name: always(text),
  served: always(flag),
  storage: always(flag),
  deprecated: flag,
  deprecationWarning: given(text),
  schema: given(struct('CustomResourceValidation', { openAPIV3Schema: given(open) })),
  subresources: given(open),
  additionalPrinterColumns: list(printerColumn),
  selectableFields: open,
});

const condition = struct('CustomResourceDefinitionCondition', {
  type: always(text),
  status: always(text),
  lastTransitionTime: time,
  reason: text,
  message: text,
});

const ageColumn: TableColumn = {
  name: 'Created At',
  type: 'date',
  format: '',
  description: 'Time at which the definition was created.',
  priority: 0,
  cell: (object) => object.metadata.creationTimestamp ?? '',
};

export const customResourceDefinitions: ResourceType = builtInType({
  names: {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
  },
  namespaced: false,
  updatesUnconditionally: false,
  storageName: 'apiextensions.k8s.io/customresourcedefinitions',
  fields: {
    spec: always(
      struct('CustomResourceDefinitionSpec', {
        group: always(text),
        names: always(names),
        scope: always(text),
        versions: always(list(version)),
        conversion: given(open),
        preserveUnknownFields: flag,
      }),
    ),
    status: always(
      struct('CustomResourceDefinitionStatus', {
        conditions: always(list(condition)),
        acceptedNames: always(names),
        storedVersions: always(texts),
      }),
    ),
  },
  fill: withDefaults,
  prepareCreate: (object) => established(withMetadata(object, { generation: 1 })),
  prepareUpdate: (next) => established(next),
  validate,
  validateUpdate: (next, current) => [
    ...validate(next),
    ...['group', 'scope'].flatMap((field) =>
      immutable(`spec.${field}`, valueAt(next, 'spec', field), valueAt(current, 'spec', field)),
    ),
  ],
  columns: [nameColumn, ageColumn],
});

function withDefaults(object: KubernetesObject): KubernetesObject {
  const spec = (object['spec'] ?? {}) as JsonObject;
  const given = (spec['names'] ?? {}) as JsonObject;
  const kind = textAt(given, 'kind');
  const filled = { ...given, singular: textAt(given, 'singular') || kind.toLowerCase() };
  const listKind = textAt(given, 'listKind') || `${kind}List`;
  return {
    ...object,
    spec: { ...spec, names: { ...filled, listKind }, conversion: spec['conversion'] ?? { strategy: 'None' } },
  };
}

/** Names never clash here, so every definition is established at once. */
function established(object: KubernetesObject): KubernetesObject {
  const lastTransitionTime = object.metadata.creationTimestamp ?? null;
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'True',
    lastTransitionTime,
    reason,
    message,
  });
  return {
    ...object,
    status: {
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames: valueAt(object, 'spec', 'names') ?? {},
      storedVersions: versionsOf(object)
        .filter((entry) => valueAt(entry, 'storage') === true)
        .map((entry) => textAt(entry, 'name')),
    },
  };
}

function versionsOf(object: KubernetesObject): readonly JsonValue[] {
  const versions = valueAt(object, 'spec', 'versions');
  return isJsonArray(versions) ? versions : [];
}

function validate(object: KubernetesObject): readonly FieldError[] {
  const group = textAt(object, 'spec', 'group');
  const plural = textAt(object, 'spec', 'names', 'plural');
  const errors: FieldError[] = [];
  const { name = '' } = object.metadata;
  if (name !== `${plural}.${group}`) {
    errors.push(invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  for (const field of ['group', 'scope'])
    if (textAt(object, 'spec', field) === '') errors.push(required(`spec.${field}`));
  for (const field of ['plural', 'kind']) {
    if (textAt(object, 'spec', 'names', field) === '') errors.push(required(`spec.names.${field}`));
  }
  const versions = versionsOf(object);
  if (versions.filter((entry) => valueAt(entry, 'storage') === true).length !== 1) {
    errors.push(
      invalid('spec.versions', versions, 'must have exactly one version marked as storage version'),
    );
  }
  return [...errors, ...versions.flatMap(schemaErrors)];
}

function schemaErrors(entry: JsonValue, index: number): readonly FieldError[] {
  const present = valueAt(entry, 'schema', 'openAPIV3Schema') !== undefined;
  return present ? [] : [required(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required')];
}
