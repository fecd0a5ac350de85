// The output of the chart, and parts of it.
import { parseAllDocuments } from 'yaml';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from '../src/simulator/workload/json.ts';

/** The objects in the output of `helm template`. */
export function objectsIn(manifest: string): readonly JsonObject[] {
  return parseAllDocuments(manifest)
    .map((document) => document.toJS() as Json | undefined)
    .filter(isObject);
}

export function ofKind(objects: readonly JsonObject[], kind: string): readonly JsonObject[] {
  return objects.filter((each) => textAt(each, 'kind') === kind);
}

export function theOne(objects: readonly JsonObject[], kind: string): JsonObject {
  const [found, ...others] = ofKind(objects, kind);
  if (found === undefined || others.length > 0) throw new RangeError(`there is not one ${kind}`);
  return found;
}

export function podOf(objects: readonly JsonObject[]): JsonObject {
  return objectAt(theOne(objects, 'Deployment'), 'spec', 'template', 'spec');
}

export function containerOf(objects: readonly JsonObject[]): JsonObject {
  const [container] = listAt(podOf(objects), 'containers').filter(isObject);
  if (container === undefined) throw new RangeError('there is no container');
  return container;
}

/** The arguments of `headwater`. */
export function argumentsOf(objects: readonly JsonObject[]): readonly string[] {
  return listAt(containerOf(objects), 'args').map(String);
}

/** The files in --config-dir, without those of Cilium's ConfigMap. */
export function configOf(objects: readonly JsonObject[]): Readonly<Record<string, string>> {
  const isDashboard = (each: JsonObject): boolean =>
    'grafana_dashboard' in objectAt(each, 'metadata', 'labels');
  const others = objects.filter((each) => textAt(each, 'kind') !== 'ConfigMap' || !isDashboard(each));
  return objectAt(theOne(others, 'ConfigMap'), 'data') as Readonly<Record<string, string>>;
}

export function nameOf(object: JsonObject): string {
  return `${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`;
}
