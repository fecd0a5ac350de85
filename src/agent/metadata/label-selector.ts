// Label selectors: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors. Pure.
import { isList, isObject, type Json, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';
import type { Texts } from './node-pods.ts';

/** Whether labels match. An empty selector matches all; one that cannot be read matches none. */
export function matches(selector: JsonObject, labels: Texts): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (!isObject(matchLabels ?? {}) || !isList(matchExpressions ?? [])) return false;
  const pairs = Object.entries((matchLabels ?? {}) as JsonObject);
  const expressions = (matchExpressions ?? []) as readonly Json[];
  return (
    pairs.every(([name, value]) => labelOf(labels, name) === value) &&
    expressions.every((expression) => matchesExpression(expression, labels))
  );
}

function matchesExpression(expression: Json, labels: Texts): boolean {
  const label = labelOf(labels, textAt(expression, 'key') ?? '');
  const list = valueAt(expression, 'values');
  const isListed = isList(list) && list.some((value) => value === label);
  switch (valueAt(expression, 'operator')) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    default:
      return false;
  }
}

function labelOf(labels: Texts, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}
