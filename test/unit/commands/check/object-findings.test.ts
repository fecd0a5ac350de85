import type { JsonObject } from '../../../../src/runtime/json.ts';
import { describe, expect, test } from '@jest/globals';
import { known, unknown } from '../../../../src/commands/check/fact.ts';
import { objectFindings, unservedFindings } from '../../../../src/commands/check/object-findings.ts';
import {
  type CiliumNodeReading,
  readCiliumNode,
} from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import {
  shownCiliumNode,
  shownNode,
  type ShownCiliumNode,
  type ShownNode,
} from '../../../../src/commands/check/shown-objects.ts';

function node(name: string, instanceId: string | undefined = `i-${name}`, isIgnored = false): ShownNode {
  return {
    name,
    instanceId,
    providerId: `aws:///z/${instanceId ?? ''}`,
    podCapacity: 29,
    isIgnored,
    addresses: [],
  };
}

function agent(name: string, instanceId: string | undefined = `i-${name}`): ShownCiliumNode {
  return { name, instanceId, writes: [] };
}

const nameless = (name: string): ShownNode => ({ ...node(name), instanceId: undefined });
const silent = (name: string): ShownCiliumNode => ({ ...agent(name), instanceId: undefined });

describe('rows of objects', () => {
  test.each<[string, ShownNode[], ShownCiliumNode[], readonly (readonly [string, string])[]]>([
    ['all is well', [node('a')], [agent('a')], [['ok', '1 Nodes and 1 CiliumNodes belong together']]],
    ['no node yet', [], [], [['ok', '0 Nodes and 0 CiliumNodes belong together']]],
    [
      'a CiliumNode without a Node',
      [node('a')],
      ['a', 'b', 'c', 'd', 'e'].map((name) => agent(name)),
      [['warning', '4 CiliumNodes (b, c, d and 1 more) without a Node']],
    ],
    [
      'a Node without a CiliumNode',
      [node('a'), node('b')],
      [agent('a')],
      [['warning', '1 Node (b) without a CiliumNode']],
    ],
    [
      'a Node that is ignored',
      [node('a'), { ...nameless('b'), isIgnored: true }],
      [agent('a')],
      [['ok', '2 Nodes and 1 CiliumNodes belong together']],
    ],
    [
      'a Node without a provider ID',
      [nameless('a')],
      [agent('a')],
      [['warning', '1 Node (a) without the provider ID of an instance of this cloud']],
    ],
    [
      'an agent of another mode',
      [node('a')],
      [silent('a')],
      [['problem', '1 CiliumNode (a) without an instance ID']],
    ],
    [
      'an agent that names another instance',
      [node('a')],
      [agent('a', 'i-x')],
      [['problem', '1 CiliumNode (a) that names another instance than its Node']],
    ],
    [
      'a doubled instance',
      [node('a', 'i-1'), node('b', 'i-2')],
      [agent('a', 'i-1'), agent('b', 'i-1')],
      [
        ['problem', '1 CiliumNode (b) that names another instance than its Node'],
        ['problem', 'several CiliumNodes name the instance i-1: a, b'],
      ],
    ],
    [
      'two Nodes of one machine',
      [node('a', 'i-1'), node('b', 'i-1')],
      [agent('a', 'i-1'), agent('b', 'i-1')],
      [
        ['problem', 'several Nodes name the instance i-1: a, b'],
        ['problem', 'several CiliumNodes name the instance i-1: a, b'],
      ],
    ],
  ])('say which do not belong together: %s', (_, nodes, ciliumNodes, rows) => {
    const findings = objectFindings({ nodes: known(nodes), ciliumNodes: known(ciliumNodes) });

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(rows);
    for (const { verdict, remedy } of findings) expect(remedy !== undefined).toBe(verdict !== 'ok');
  });

  test('are unknown where they cannot be read', () => {
    const findings = objectFindings({ nodes: unknown('may not list'), ciliumNodes: known([]) });

    expect(findings).toEqual([
      { what: 'objects', found: 'Nodes cannot be read: may not list', verdict: 'unknown' },
    ]);
  });
});

describe('what is read of an object', () => {
  test('is the instance, the pods that a Node admits, and the last writes of each program', () => {
    const raw = { metadata: { name: 'a' }, spec: { providerID: 'x' }, status: { capacity: { pods: '110' } } };
    expect(shownNode(raw, () => 'i-1')).toMatchObject({ name: 'a', instanceId: 'i-1', podCapacity: 110 });
    const statuses = [
      {},
      { capacity: { pods: '2k' }, allocatable: { pods: 'many' } },
      { capacity: { pods: '2k' } },
    ];
    expect(statuses.map((status) => shownNode({ ...raw, status }, () => 'i-1').podCapacity)).toEqual([
      undefined,
      undefined,
      2000,
    ]);

    const fieldsV1 = { 'f:spec': { 'f:ipam': { 'f:pool': {} } }, 'f:status': { 'f:eni': {} } };
    const managedFields = [
      { manager: 'op', time: '2026-01-01T00:00:00Z', fieldsV1 },
      { manager: 'broken', time: 'never', fieldsV1 },
      { manager: 'agent', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:spec': { 'f:eni': {} } } },
    ];
    const at = Date.UTC(2026, 0, 1);
    expect(
      shownCiliumNode(
        { metadata: { name: 'a', managedFields }, spec: { eni: { 'instance-id': 'i-2' } } },
        'eni',
      ),
    ).toEqual({
      name: 'a',
      instanceId: 'i-2',
      writes: [
        { manager: 'op', part: 'spec.ipam.pool', at },
        { manager: 'op', part: 'status.eni', at },
      ],
    });
  });
});

describe('the writes of others', () => {
  const time = '2026-01-01T00:00:00Z';
  const section = { 'f:status': { 'f:azure': {} } };
  const used = { 'f:status': { 'f:azure': {}, 'f:ipam': { 'f:used': {} } } };

  test.each<[string, readonly (readonly [manager: string, fieldsV1: object])[], readonly string[]]>([
    ['the agent of Cilium', [['cilium-agent', section]], []],
    ['a program that says which addresses pods use', [['workload', used]], []],
    [
      'a program that named the instance before',
      [
        ['workload', { 'f:spec': { 'f:instance-id': {} } }],
        ['workload', section],
      ],
      [],
    ],
    [
      'an agent that writes the pool',
      [
        ['workload', used],
        ['workload', { 'f:spec': { 'f:ipam': { 'f:pool': {} } } }],
      ],
      ['spec.ipam.pool'],
    ],
    ['another operator', [['cilium-operator-azure', used]], ['status.azure']],
    ['something else', [['kubectl-edit', section]], ['status.azure']],
  ])('are those of what only the controller writes: %s', (_, entries, parts) => {
    const managedFields = entries.map(([manager, fieldsV1]) => ({ manager, time, fieldsV1 }));
    const { writes } = shownCiliumNode({ metadata: { name: 'a', managedFields } } as JsonObject, 'azure');

    expect(writes.map(({ part }) => part)).toEqual(parts);
  });
});

function reading(
  name: string,
  spec: object,
  annotations: Readonly<Record<string, string>> = {},
): CiliumNodeReading {
  return readCiliumNode(
    { metadata: { name, uid: name, resourceVersion: '1', annotations }, spec },
    awsSection,
  );
}

describe('rows of CiliumNodes that cannot be served', () => {
  const lacking = {
    'instance-id': 'i-1',
    eni: { 'vpc-id': 'vpc-1', 'availability-zone': 'a', 'node-subnet-id': 's' },
  };
  const broken = { ipam: { 'pre-allocate': 'many' }, eni: {} };

  test.each<[string, CiliumNodeReading[], readonly RegExp[]]>([
    ['none', [], []],
    [
      'one whose agent says nothing of its cloud',
      [reading('a', {})],
      [/^1 CiliumNode \(a\) without spec\.eni$/],
    ],
    [
      'two that lack a field',
      [reading('a', lacking), reading('b', lacking)],
      [/^2 CiliumNodes \(a, b\) without spec\.eni\.instance-type$/],
    ],
    [
      'an invalid field',
      [reading('a', broken)],
      [/^1 CiliumNode \(a\) cannot be read: spec\.ipam\.pre-allocate: found "many"/],
    ],
    ['one that is to be ignored', [reading('a', broken, { 'ipam.cilium.io/ignore': 'true' })], []],
  ])('name the field: %s', (_, readings, rows) => {
    const findings = unservedFindings(readings);

    expect(findings.map(({ found }) => found)).toEqual(rows.map((row) => expect.stringMatching(row)));
    for (const { verdict } of findings) expect(verdict).toBe('problem');
  });
});
