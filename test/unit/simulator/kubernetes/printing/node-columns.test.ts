import { expect, test } from '@jest/globals';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import { nodeColumns } from '../../../../../src/simulator/kubernetes/printing/node-columns.ts';

function cell(name: string, more: object): unknown {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, ...more } as KubernetesObject;
  return nodeColumns.find((column) => column.name === name)?.cell(node, 0);
}

test.each([
  ['Status', {}, 'Unknown'],
  ['Status', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, 'Ready'],
  ['Status', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }, 'NotReady'],
  ['Status', { spec: { unschedulable: true } }, 'Unknown,SchedulingDisabled'],
  ['Roles', {}, '<none>'],
  [
    'Roles',
    {
      metadata: {
        labels: {
          'node-role.kubernetes.io/worker': '',
          'node-role.kubernetes.io/': '',
          'kubernetes.io/role': 'a',
        },
      },
    },
    'a,worker',
  ],
  ['Internal-IP', { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }, '10.0.0.1'],
  ['External-IP', {}, '<none>'],
  ['OS-Image', {}, '<unknown>'],
  ['Version', { status: { nodeInfo: { kubeletVersion: 'v1.32.0' } } }, 'v1.32.0'],
])('a Node prints the column %s of %j', (name, node, text) => {
  expect(cell(name, node)).toBe(text);
});
