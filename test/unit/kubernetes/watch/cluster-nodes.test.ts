import { describe, expect, test } from '@jest/globals';
import { type ClusterNode, ClusterNodes } from '../../../../src/kubernetes/watch/cluster-nodes.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { instanceIdOf } from '../../../../src/providers/aws/ids.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { event, isWatch, listOf, serve } from '../reflector-rig.ts';
import { LineFeed, type Script, ScriptedTransport, type Server, status } from '../scripted-transport.ts';
import { rethrow } from '../../../support/rethrow.ts';

interface Rig {
  readonly clock: VirtualClock;
  readonly nodes: ClusterNodes;
  readonly changes: (readonly [name: string, node: ClusterNode | undefined])[];
  readonly access: (string | undefined)[];
}

function rig(server: Server): Rig {
  const clock = new VirtualClock();
  const changes: Rig['changes'] = [];
  const access: Rig['access'] = [];
  const nodes = new ClusterNodes(
    { transport: new ScriptedTransport(clock, server), clock, random: new Random('nodes'), onBug: rethrow },
    {
      instanceIdOf,
      onChange: (name, node) => changes.push([name, node]),
      onAccess: (problem) => access.push(problem),
      onState: () => undefined,
    },
  );
  void nodes.reflector.run(new AbortController().signal);
  return { clock, nodes, changes, access };
}

function node(
  name: string,
  version: number,
  instance: string | undefined,
  { ready = 'True', addresses = ['10.0.0.5'] }: { ready?: string; addresses?: readonly string[] } = {},
): JsonObject {
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: String(version),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { long: 'x'.repeat(1000) },
    },
    spec: instance === undefined ? {} : { providerID: `aws:///us-east-1a/${instance}` },
    status: {
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP', address })),
        { type: 'ExternalIP', address: '203.0.113.5' },
        { type: 'Hostname', address: '10.0.0.7' },
      ],
      conditions: [{ type: 'Ready', status: ready }],
      images: [{ names: ['x'.repeat(1000)] }],
    },
  };
}

const kept = {
  uid: 'uid-a',
  instanceId: 'i-00000001',
  addresses: ['10.0.0.5'],
  createdAt: Date.UTC(2026, 0, 1),
};

describe('the record of a Node', () => {
  test('keeps only which instance and which internal addresses it has', async () => {
    const { clock, nodes, changes } = rig(serve([listOf(10, node('a', 1, 'i-00000001'))], [new LineFeed()]));

    await clock.advance(0);
    await nodes.settled;

    expect([...nodes.nodes]).toEqual([['a', kept]]);
    expect(changes).toEqual([['a', kept]]);
  });

  test('is not reported for a new condition, and is for a new provider ID or address', async () => {
    const feed = new LineFeed();
    const { clock, changes } = rig(serve([listOf(10, node('a', 1, undefined))], [feed]));
    await clock.advance(0);
    changes.length = 0;

    feed.push(event('MODIFIED', node('a', 11, undefined, { ready: 'False' })));
    await clock.advance(0);
    const before = [...changes];
    feed.push(event('MODIFIED', node('a', 12, 'i-00000001')));
    feed.push(event('MODIFIED', node('a', 13, 'i-00000001', { addresses: ['10.0.0.6'] })));
    feed.push(event('DELETED', node('a', 14, 'i-00000001')));
    await clock.advance(0);

    expect(before).toEqual([]);
    expect(changes).toEqual([
      ['a', kept],
      ['a', { ...kept, addresses: ['10.0.0.6'] }],
      ['a', undefined],
    ]);
  });
});

describe('the addresses of a Node', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['of both protocols are those of IPv4', ['fd00::5', '10.0.0.5'], ['10.0.0.5']],
    ['that are malformed are left out', ['10.0.0.05', 'node-a', '', '10.0.0.5/24', '10.0.0.5'], ['10.0.0.5']],
    ['are kept once', ['10.0.0.5', '10.0.0.6', '10.0.0.5'], ['10.0.0.5', '10.0.0.6']],
    ['may be none', [], []],
    [
      'beyond the sixteenth are left out',
      Array.from({ length: 1000 }, (_, index) => `10.1.${index % 250}.${Math.floor(index / 250)}`),
      Array.from({ length: 16 }, (_, index) => `10.1.${index}.0`),
    ],
  ])('%s', async (_, addresses, expected) => {
    const { clock, nodes } = rig(
      serve([listOf(10, node('a', 1, undefined, { addresses }))], [new LineFeed()]),
    );

    await clock.advance(0);

    expect(nodes.nodes.get('a')?.addresses).toEqual(expected);
  });

  test('are none where a Node lists something else', async () => {
    const odd = { ...node('a', 1, undefined), status: { addresses: 'none' } };
    const { clock, nodes } = rig(serve([listOf(10, odd)], [new LineFeed()]));

    await clock.advance(0);

    expect(nodes.nodes.get('a')?.addresses).toEqual([]);
  });
});

describe('an empty list of Nodes', () => {
  const [a, b] = [node('a', 1, 'i-00000001'), node('b', 2, 'i-00000002')];

  test('delays a Node that the watch names until a list shows it, with all others', async () => {
    const feed = new LineFeed();
    const lists: Script[] = [listOf(10), listOf(12), listOf(13, a, b)];
    // The server ends the second watch at its time-out.
    const watches = [feed, new LineFeed().end()];
    const { clock, nodes, changes } = rig((request) =>
      isWatch(request) ? (watches.shift() ?? new LineFeed()) : (lists.shift() ?? listOf(14, a, b)),
    );
    await clock.advance(0);
    await nodes.settled;

    feed.push(event('ADDED', node('a', 11, 'i-00000001')));
    await clock.advance(0);
    const meanwhile = [changes.length, nodes.nodes.size];
    await clock.advance(60_000);

    expect(meanwhile).toEqual([0, 0]);
    expect([...nodes.nodes.keys()].sort()).toEqual(['a', 'b']);
    expect(new Map(changes).get('a')).toEqual(kept);
    expect(new Map(changes).has('b')).toBe(true);
  });

  test('does not delay the first Node of a cluster', async () => {
    const feed = new LineFeed();
    const lists: Script[] = [listOf(10), listOf(11, node('a', 11, 'i-00000001'))];
    const { clock, changes } = rig((request) => (isWatch(request) ? feed : (lists.shift() ?? listOf(12))));
    await clock.advance(0);

    feed.push(event('ADDED', node('a', 11, 'i-00000001')));
    await clock.advance(0);

    expect(changes).toEqual([['a', kept]]);
  });
});

describe('a denied list of Nodes', () => {
  test('is reported once, and no Node is known meanwhile', async () => {
    let isAllowed = false;
    const { clock, nodes, access } = rig((request) => {
      if (!isAllowed) return status(403, 'nodes is forbidden');
      return isWatch(request) ? new LineFeed() : listOf(10, node('a', 1, 'i-00000001'));
    });
    await clock.advance(0);
    await nodes.settled;
    const meanwhile = { known: nodes.nodes.size, problem: nodes.problem };
    await clock.advance(600_000);

    isAllowed = true;
    await clock.advance(600_000);

    expect(meanwhile).toEqual({ known: 0, problem: 'nodes is forbidden' });
    expect(access).toEqual(['nodes is forbidden', undefined]);
    expect([...nodes.nodes.keys()]).toEqual(['a']);
  });
});
