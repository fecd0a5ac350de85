// ConfigMaps.
// https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/config-map-v1/
import { type FieldError, forbiddenField, invalid, tooLong } from '../field-error.ts';
import { sameJson, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { configKey } from '../objects/names.ts';
import { ageColumn, nameColumn } from '../printing/table-column.ts';
import { bytes, flag, textMap } from '../schema/scalars.ts';
import { given, map } from '../schema/wire-shape.ts';
import { builtInType } from './built-in-type.ts';
import { partOf } from '../objects/object-parts.ts';
import type { ResourceType } from './resource-type.ts';

const largestContent = 1024 * 1024;

export const configMaps: ResourceType = builtInType({
  names: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] },
  namespaced: true,
  fields: { immutable: given(flag), data: textMap, binaryData: map(bytes) },
  validate,
  validateUpdate: (next, current) => [...immutableErrors(next, current), ...validate(next)],
  columns: [
    nameColumn,
    {
      name: 'Data',
      type: 'string',
      format: '',
      description: 'How many entries there are.',
      priority: 0,
      cell: (object) => Object.keys({ ...partOf(object, 'data'), ...partOf(object, 'binaryData') }).length,
    },
    ageColumn,
  ],
});

function validate(object: KubernetesObject): readonly FieldError[] {
  const data = partOf(object, 'data');
  const binary = partOf(object, 'binaryData');
  const keyErrors = (field: string, key: string): readonly FieldError[] =>
    configKey(key).map((problem) => invalid(`${field}[${key}]`, key, problem));
  const size = [...Object.values(data), ...Object.values(binary)].reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );
  return [
    ...Object.keys(data).flatMap((key) => [
      ...keyErrors('data', key),
      ...(Object.hasOwn(binary, key)
        ? [invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]),
    ...Object.keys(binary).flatMap((key) => keyErrors('binaryData', key)),
    ...(size > largestContent ? [tooLong('', largestContent)] : []),
  ];
}

function immutableErrors(next: KubernetesObject, current: KubernetesObject): readonly FieldError[] {
  if (valueAt(current, 'immutable') !== true) return [];
  return ['immutable', 'data', 'binaryData']
    .filter((field) => !sameJson(next[field], current[field]))
    .map((field) => forbiddenField(field, 'field is immutable when `immutable` is set'));
}
