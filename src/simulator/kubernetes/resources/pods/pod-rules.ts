// Validates pods and their changes.
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../../field-error.ts';
import { type JsonObject, type JsonValue, sameJson, textAt, withoutFields } from '../../json-value.ts';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { dnsLabel, dnsSubdomain, type TextRule } from '../../objects/names.ts';
import { itemsOf, partOf } from '../../objects/object-parts.ts';

/** Errors in the spec of a pod. */
export function podErrors(pod: KubernetesObject): readonly FieldError[] {
  const spec = partOf(pod, 'spec');
  const volumes = itemsOf(spec, 'volumes').map((volume) => textAt(volume, 'name'));
  const containers = itemsOf(spec, 'containers');
  return [
    ...nameErrors(volumes, 'spec.volumes', dnsLabel),
    ...(containers.length === 0 ? [required('spec.containers')] : []),
    ...containerErrors(containers, 'spec.containers', volumes),
    ...containerErrors(itemsOf(spec, 'initContainers'), 'spec.initContainers', volumes),
    ...choiceErrors(spec, 'restartPolicy', ['Always', 'OnFailure', 'Never']),
    ...choiceErrors(spec, 'dnsPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...textErrors(spec, 'serviceAccountName', dnsSubdomain),
    ...textErrors(spec, 'nodeName', dnsSubdomain),
    ...textErrors(spec, 'hostname', dnsLabel),
    ...textErrors(spec, 'subdomain', dnsLabel),
  ];
}

function containerErrors(
  containers: readonly JsonValue[],
  path: string,
  volumes: readonly string[],
): readonly FieldError[] {
  const names = containers.map((container) => textAt(container, 'name'));
  return containers.flatMap((container, index) => [
    ...nameErrors(names.slice(0, index + 1), path, dnsLabel, index),
    ...(textAt(container, 'image') === '' ? [required(`${path}[${index}].image`)] : []),
    ...portErrors(container, `${path}[${index}]`),
    ...mountErrors(container, `${path}[${index}]`, volumes),
    ...choiceErrors(container, 'imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], `${path}[${index}]`),
  ]);
}

/** Each name must be present, well formed and unique in its kind; `from` skips earlier ones. */
function nameErrors(names: readonly string[], path: string, rule: TextRule, from = 0): readonly FieldError[] {
  return names.flatMap((name, index) => {
    const field = `${path}[${index}].name`;
    if (index < from) return [];
    if (name === '') return [required(field)];
    if (names.indexOf(name) < index) return [duplicate(field, name)];
    return rule(name).map((problem) => invalid(field, name, problem));
  });
}

function portErrors(container: JsonValue, path: string): readonly FieldError[] {
  return itemsOf(container, 'ports').flatMap((port, index) => {
    const field = `${path}.ports[${index}].containerPort`;
    const number = partOf(port as JsonObject)['containerPort'];
    if (number === undefined || number === 0) return [required(field)];
    const inRange = typeof number === 'number' && number >= 1 && number <= 65_535;
    return inRange ? [] : [invalid(field, number, 'must be between 1 and 65535, inclusive')];
  });
}

function mountErrors(container: JsonValue, path: string, volumes: readonly string[]): readonly FieldError[] {
  return itemsOf(container, 'volumeMounts').flatMap((mount, index) => {
    const name = textAt(mount, 'name');
    const field = `${path}.volumeMounts[${index}]`;
    return [
      ...(name === '' ? [required(`${field}.name`)] : []),
      ...(name !== '' && !volumes.includes(name) ? [notFoundField(`${field}.name`, name)] : []),
      ...(textAt(mount, 'mountPath') === '' ? [required(`${field}.mountPath`)] : []),
    ];
  });
}

function choiceErrors(
  holder: JsonValue,
  name: string,
  choices: readonly string[],
  path = 'spec',
): readonly FieldError[] {
  const value = textAt(holder, name);
  return choices.includes(value) ? [] : [notSupported(`${path}.${name}`, value, choices)];
}

function textErrors(spec: JsonObject, name: string, rule: TextRule): readonly FieldError[] {
  const value = textAt(spec, name);
  return value === '' ? [] : rule(value).map((problem) => invalid(`spec.${name}`, value, problem));
}

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Immutable parts of a pod; the real server's text also shows the difference. */
export function podUpdateErrors(next: KubernetesObject, current: KubernetesObject): readonly FieldError[] {
  const errors = podErrors(next);
  if (sameJson(fixedParts(next), fixedParts(current)) && keepsTolerations(next, current)) return errors;
  return [...errors, forbiddenField('spec', changeable)];
}

function fixedParts(pod: KubernetesObject): JsonObject {
  const spec = partOf(pod, 'spec');
  const withoutImages = (name: string): readonly JsonValue[] =>
    itemsOf(spec, name).map((container) => withoutFields(container as JsonObject, 'image'));
  return {
    ...withoutFields(spec, 'activeDeadlineSeconds', 'tolerations'),
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
}

function keepsTolerations(next: KubernetesObject, current: KubernetesObject): boolean {
  const kept = itemsOf(next, 'spec', 'tolerations');
  return itemsOf(current, 'spec', 'tolerations').every((toleration) =>
    kept.some((other) => sameJson(other, toleration)),
  );
}
