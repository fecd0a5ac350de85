import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../../src/simulator/kubernetes/json-value.ts';
import { valueAt } from '../../../../../src/simulator/kubernetes/json-value.ts';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import {
  qosClassOf,
  withPodDefaults,
} from '../../../../../src/simulator/kubernetes/resources/pods/pod-defaults.ts';

function pod(container: JsonObject, more: JsonObject = {}): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'x', ...container }] },
    ...more,
  };
}

describe('withPodDefaults', () => {
  test.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.2', 'IfNotPresent'],
    ['localhost:5000/nginx', 'Always'],
    ['localhost:5000/nginx:1', 'IfNotPresent'],
    ['nginx@sha256:abc', 'IfNotPresent'],
  ])('sets the pull policy of image %s to %s', (image, policy) => {
    const filled = withPodDefaults(pod({ image }));

    expect(filled['spec']).toMatchObject({ containers: [{ imagePullPolicy: policy }] });
  });

  test.each<[JsonObject, JsonObject]>([
    [{ podIP: '10.0.0.1' }, { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }],
    [
      { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
      { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
    ],
    [
      { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.1' }] },
      { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] },
    ],
  ])('keeps the addresses in %j consistent', (status, expected) => {
    expect(valueAt(withPodDefaults(pod({}, { status })), 'status')).toEqual({
      phase: 'Pending',
      ...expected,
    });
  });
});

describe('qosClassOf', () => {
  const both = { cpu: '1', memory: '1Gi' };

  test.each<[JsonObject, string]>([
    [{}, 'BestEffort'],
    [{ resources: { requests: { 'example.org/gpu': '1' } } }, 'BestEffort'],
    [{ resources: { requests: { cpu: '1' } } }, 'Burstable'],
    [{ resources: { requests: both, limits: both } }, 'Guaranteed'],
    [{ resources: { requests: both, limits: { ...both, cpu: '2' } } }, 'Burstable'],
  ])('returns for %j the class %s', (container, expected) => {
    expect(qosClassOf(pod(container))).toBe(expected);
  });
});
