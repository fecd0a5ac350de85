import { describe, expect, test } from '@jest/globals';
import { awaitsAgent, nodeOfReadyAgent, taintRemoval } from '../../../src/kubernetes/agent-taint.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';

const key = 'node.cilium.io/agent-not-ready';
const taint = { key, effect: 'NoSchedule' };
const other = { key: 'team', value: 'a', effect: 'NoExecute' };

describe('the node of a ready agent', () => {
  const ready = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Ready', status: 'True' },
  ];

  function podOf(conditions: readonly JsonObject[], metadata: JsonObject = {}): JsonObject {
    return { metadata, spec: { nodeName: 'one' }, status: { conditions: [...conditions] } };
  }

  test.each<[string, JsonObject, string | undefined]>([
    ['is that of a pod that is ready', podOf(ready), 'one'],
    ['is none while the pod is not ready', podOf([{ type: 'Ready', status: 'False' }]), undefined],
    ['is none while it says nothing', podOf([]), undefined],
    ['is none once the pod is being deleted', podOf(ready, { deletionTimestamp: 'now' }), undefined],
    ['is none before the pod has a node', { status: { conditions: ready } }, undefined],
  ])('%s', (_, pod, node) => {
    expect(nodeOfReadyAgent(pod)).toBe(node);
  });
});

describe('the patch that removes the taint', () => {
  test('holds only while all taints are those that were read, and keeps the others', () => {
    expect(taintRemoval({ spec: { taints: [other, taint] } }, key)).toEqual([
      { op: 'test', path: '/spec/taints', value: [other, taint] },
      { op: 'replace', path: '/spec/taints', value: [other] },
    ]);
  });

  test.each<[string, JsonObject]>([
    ['without taints', { spec: {} }],
    ['with others alone', { spec: { taints: [other] } }],
    ['with the taint of another key', { spec: { taints: [{ ...taint, key: 'other.io/agent-not-ready' }] } }],
  ])('is none %s', (_, node) => {
    expect(taintRemoval(node, key)).toBeUndefined();
  });
});

describe('a Node awaits its agent', () => {
  const isUp = { type: 'NetworkUnavailable', status: 'False', reason: 'CiliumIsUp' };

  test.each<[string, JsonObject, boolean]>([
    ['with the taint', { spec: { taints: [taint] }, status: { conditions: [isUp] } }, true],
    ['without the condition', { spec: { taints: [other] } }, true],
    ['with the condition of routes', { status: { conditions: [{ ...isUp, reason: 'RouteCreated' }] } }, true],
    ['no longer with the condition and without the taint', { status: { conditions: [isUp] } }, false],
  ])('%s', (_, node, awaits) => {
    expect(awaitsAgent(node, key)).toBe(awaits);
  });
});
