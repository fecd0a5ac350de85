import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../../src/simulator/kubernetes/json-value.ts';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import { podColumns } from '../../../../../src/simulator/kubernetes/printing/pod-columns.ts';

const now = Date.UTC(2026, 0, 1, 0, 10);
const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } };

function cells(
  status: JsonObject,
  metadata: JsonObject = {},
  spec: JsonObject = {},
): Record<string, unknown> {
  const pod: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { containers: [{ name: 'c' }, { name: 'd' }], ...spec },
    status,
  };
  return Object.fromEntries(podColumns.map(({ name, cell }) => [name, cell(pod, now)]));
}

test.each<[string, JsonObject, string]>([
  ['its phase', { phase: 'Pending' }, 'Pending'],
  ['its reason', { phase: 'Failed', reason: 'Evicted' }, 'Evicted'],
  [
    'that it waits for a gate',
    { phase: 'Pending', conditions: [{ reason: 'SchedulingGated' }] },
    'SchedulingGated',
  ],
  [
    'what a container waits for',
    { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'Pulling' } } }] },
    'Pulling',
  ],
  [
    'how a container ended',
    { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] },
    'ExitCode:3',
  ],
  [
    'what ended a container',
    { phase: 'Failed', containerStatuses: [{ state: { terminated: { signal: 9 } } }] },
    'Signal:9',
  ],
  [
    'that it runs on though one container is done',
    {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ state: { terminated: { reason: 'Completed' } } }, running],
    },
    'Running',
  ],
  [
    'that it runs on without being ready',
    { phase: 'Running', containerStatuses: [{ state: { terminated: { reason: 'Completed' } } }, running] },
    'NotReady',
  ],
  [
    'how far its start is',
    { phase: 'Pending', initContainerStatuses: [{ state: { running: {} } }] },
    'Init:0/0',
  ],
  [
    'what its start waits for',
    { phase: 'Pending', initContainerStatuses: [{ state: { waiting: { reason: 'Pulling' } } }] },
    'Init:Pulling',
  ],
  [
    'how its start failed',
    {
      phase: 'Pending',
      initContainerStatuses: [{ state: { terminated: { exitCode: 1, reason: 'Error' } } }],
    },
    'Init:Error',
  ],
])('the status of a pod shows %s', (_, status, text) => {
  expect(cells(status)['Status']).toBe(text);
});

test('a pod that is being deleted shows as Terminating, unless it has ended', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

  expect(cells({ phase: 'Running' }, going)['Status']).toBe('Terminating');
  expect(cells({ phase: 'Succeeded' }, going)['Status']).toBe('Succeeded');
});

test('a pod shows its ready containers, its restarts and its place', () => {
  const restarted = {
    ...running,
    restartCount: 2,
    lastState: { terminated: { finishedAt: '2026-01-01T00:05:00Z' } },
  };
  const status = { phase: 'Running', containerStatuses: [restarted], podIPs: [{ ip: '10.0.0.1' }] };

  const shown = cells(status, {}, { nodeName: 'n1', readinessGates: [{ conditionType: 'X' }] });

  expect(shown).toMatchObject({
    Ready: '1/2',
    Restarts: '2 (5m ago)',
    Age: '10m',
    IP: '10.0.0.1',
    Node: 'n1',
    'Nominated Node': '<none>',
    'Readiness Gates': '0/1',
  });
});
