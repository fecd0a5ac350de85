import { describe, expect, test } from '@jest/globals';
import { choosePool, matches } from '../../../../src/agent/metadata/pool-choice.ts';
import { readNodePod } from '../../../../src/agent/metadata/node-pods.ts';
import { readCiliumPodIpPool } from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';

const ipv4 = { cidrs: ['10.0.0.0/16'], maskSize: 24 };
const pool = (name: string, spec: JsonObject): ReturnType<typeof readCiliumPodIpPool> =>
  readCiliumPodIpPool({ metadata: { name }, spec });
const web = { podSelector: { matchLabels: { app: 'web' } } };

describe('the pool of a pod', () => {
  test.each<readonly [string, JsonObject, JsonObject, readonly ReturnType<typeof pool>[], string]>([
    ['nothing says anything', {}, {}, [], 'base'],
    ['the pod names one', { 'ip-pool': 'a' }, { 'ip-pool': 'b' }, [], 'a'],
    ['the pod names one of the family', { 'ip-pool': 'a', 'ipv4-pool': 'c', 'ipv6-pool': 'd' }, {}, [], 'c'],
    ['the namespace names one', {}, { 'ip-pool': 'b' }, [pool('s', { ipv4, ...web })], 'b'],
    ['one matches', {}, {}, [pool('s', { ipv4, ...web }), pool('t', { ipv4 })], 's'],
    ['one of the other family matches', {}, {}, [pool('s', { ipv6: ipv4, ...web })], 'base'],
    [
      'its name matches',
      {},
      {},
      [pool('s', { ipv4, podSelector: { matchLabels: { 'io.kubernetes.pod.name': 'p' } } })],
      's',
    ],
    [
      'its namespace matches',
      {},
      {},
      [pool('s', { ipv4, namespaceSelector: { matchLabels: { team: 'x' } } })],
      's',
    ],
    [
      'only the pod matches',
      {},
      {},
      [pool('s', { ipv4, ...web, namespaceSelector: { matchLabels: { team: 'y' } } })],
      'base',
    ],
    [
      'two match',
      {},
      {},
      [pool('s', { ipv4, ...web }), pool('t', { ipv4, ...web })],
      'more than one pool matches the pod ns/p: s, t',
    ],
    [
      'none matches, and one has to',
      { 'require-pool-match': 'true' },
      {},
      [],
      'no pool matches the pod ns/p',
    ],
  ])('where %s', (_, ofPod, ofNamespace, pools, expected) => {
    const named = (annotations: JsonObject): JsonObject =>
      Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [`ipam.cilium.io/${name}`, value]),
      );
    const pod = readNodePod({
      metadata: { namespace: 'ns', name: 'p', labels: { app: 'web' }, annotations: named(ofPod) },
    });
    const namespace = { labels: { team: 'x' }, annotations: named(ofNamespace) as Record<string, string> };

    const outcome = choosePool({ pod, namespace, pools, defaultPool: 'base' }, 'ipv4');

    expect(outcome.kind === 'ok' ? outcome.value : outcome.error.message).toBe(expected);
  });
});

describe('a label selector', () => {
  const labels = { app: 'web', tier: 'front' };
  const expression = (key: string, operator: string, ...values: string[]): JsonObject => ({
    matchExpressions: [{ key, operator, values }],
  });

  test.each<readonly [JsonObject, boolean]>([
    [{}, true],
    [{ matchLabels: { app: 'web', tier: 'front' } }, true],
    [{ matchLabels: { app: 'web', tier: 'back' } }, false],
    [{ matchLabels: { constructor: 'x' } }, false],
    [expression('app', 'In', 'db', 'web'), true],
    [expression('app', 'In', 'db'), false],
    [expression('app', 'NotIn', 'db'), true],
    [expression('app', 'NotIn', 'web'), false],
    [expression('none', 'NotIn', 'web'), true],
    [expression('app', 'Exists'), true],
    [expression('none', 'Exists'), false],
    [expression('none', 'DoesNotExist'), true],
    [expression('app', 'DoesNotExist'), false],
    [expression('app', 'Like', 'web'), false],
    [{ matchLabels: 7 }, false],
    [{ matchExpressions: 'x' }, false],
    [{ matchLabels: null, matchExpressions: null }, true],
  ])('%j matches: %s', (selector, expected) => {
    expect(matches(selector, labels)).toBe(expected);
  });
});

describe('a pod of this node', () => {
  test.each<readonly [JsonObject, object]>([
    [{ status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00:0::1' }] } }, { ips: ['10.0.0.1', 'fd00::1'] }],
    [{ status: { podIP: '10.0.0.1' } }, { ips: ['10.0.0.1'] }],
    [{ status: { podIP: '010.0.0.1' } }, { ips: [] }],
    [{ spec: { hostNetwork: true }, status: { podIP: '10.0.0.1' } }, { ips: [] }],
    [{ status: { phase: 'Failed' } }, { hasEnded: true }],
    [{ status: { phase: 'Running' } }, { hasEnded: false }],
    [{ metadata: { uid: 'u', annotations: { 'kubernetes.io/config.hash': 'h' } } }, { uids: ['u', 'h'] }],
  ])('%j is read as %j', (raw, expected) => {
    expect(readNodePod(raw)).toMatchObject(expected);
  });
});
