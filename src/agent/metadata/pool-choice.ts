// Which pool a pod gets addresses of: the one that its annotations name, else those of its namespace, else the one whose
// selectors match it, else the default: https://docs.cilium.io/en/stable/network/concepts/ipam/multi-pool/. Pure.
import type { Family } from '../../blocks/set/cidr.ts';
import type { CiliumPodIpPool } from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { failed, ok, type Outcome } from '../ipam/ipam-error.ts';
import type { NodePod, Texts } from './node-pods.ts';
import { isList, isObject, type Json, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';

export interface PoolNamespace {
  readonly labels: Texts;
  readonly annotations: Texts;
}

export interface PoolChoice {
  readonly pod: NodePod;
  readonly namespace: PoolNamespace;
  readonly pools: Iterable<CiliumPodIpPool>;
  readonly defaultPool: string;
}

const annotationsOf: Readonly<Record<Family, readonly string[]>> = {
  ipv4: ['ipam.cilium.io/ipv4-pool', 'ipam.cilium.io/ip-pool'],
  ipv6: ['ipam.cilium.io/ipv6-pool', 'ipam.cilium.io/ip-pool'],
};

/** No fallback to the default. */
const requireMatch = 'ipam.cilium.io/require-pool-match';

export function choosePool(choice: PoolChoice, family: Family): Outcome<string> {
  const { pod, namespace, defaultPool } = choice;
  const named = [pod, namespace]
    .flatMap(({ annotations }) => annotationsOf[family].map((name) => annotations[name]))
    .find((pool) => pool !== undefined && pool !== '');
  if (named !== undefined) return ok(named);
  const [first, second] = matching(choice, family);
  if (second !== undefined && first !== undefined)
    return failed('poolNotReady', `more than one pool matches the pod ${pod.key}: ${first}, ${second}`);
  if (first !== undefined) return ok(first);
  const requires = [pod, namespace].some(({ annotations }) => annotations[requireMatch] === 'true');
  return requires ? failed('poolNotReady', `no pool matches the pod ${pod.key}`) : ok(defaultPool);
}

function matching({ pod, namespace, pools }: PoolChoice, family: Family): readonly string[] {
  const ofPod = {
    ...pod.labels,
    'io.kubernetes.pod.namespace': pod.namespace,
    'io.kubernetes.pod.name': pod.name,
  };
  return [...pools]
    .filter((pool) => {
      const { podSelector, namespaceSelector } = pool;
      const selects = podSelector !== undefined || namespaceSelector !== undefined;
      return (
        selects &&
        pool[family] !== undefined &&
        matches(podSelector ?? {}, ofPod) &&
        matches(namespaceSelector ?? {}, namespace.labels)
      );
    })
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Whether labels match: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors. An empty selector matches all; one that cannot be read matches none.
 */
export function matches(selector: JsonObject, labels: Texts): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (!isObject(matchLabels ?? {}) || !isList(matchExpressions ?? [])) return false;
  const pairs = Object.entries((matchLabels ?? {}) as JsonObject);
  const expressions = (matchExpressions ?? []) as readonly Json[];
  return (
    pairs.every(([name, value]) => textAt(labels, name) === value) &&
    expressions.every((expression) => matchesExpression(expression, labels))
  );
}

function matchesExpression(expression: Json, labels: Texts): boolean {
  const label = textAt(labels, textAt(expression, 'key') ?? '');
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
