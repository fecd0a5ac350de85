import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { alibabaChapters } from '../../../../src/commands/demo/alibaba/alibaba-cloud.ts';
import {
  alibabaTopology,
  configureAlibabaNode,
  leaveInterfaces,
} from '../../../../src/commands/demo/alibaba/alibaba-topology.ts';
import { azureChapters } from '../../../../src/commands/demo/azure/azure-cloud.ts';
import { azureTopology, configureAzureNode } from '../../../../src/commands/demo/azure/azure-topology.ts';
import { chaptersFor } from '../../../../src/commands/demo/ec2-cloud.ts';
import { configureNode, demoTopology } from '../../../../src/commands/demo/demo-topology.ts';
import { type Frame, frameLines } from '../../../../src/commands/demo/frame.ts';
import { liveScreen, plainScreen } from '../../../../src/commands/demo/screen.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import {
  createEmbeddedAlibaba,
  createEmbeddedAzure,
  createEmbeddedCluster,
} from '../../../../src/simulator/cluster/embedded-cluster.ts';

/** A late moment of a large demonstration with many problems. */
function frame(change: Partial<Frame> = {}, violations = 0): Frame {
  const actions = ['CreateNetworkInterface', 'AttachNetworkInterface', 'AssignPrivateIpAddresses'];
  const subnet = (index: number) => ({ name: `pods-${index}`, taken: index * 100, size: 2043 });
  return {
    elapsed: 42.4,
    chapter: 'everybody to the watermarks',
    picture: {
      cloud: 'EC2',
      nodes: { total: 200, serving: 200, met: 17 },
      dualStack: { asking: 100, met: 99 },
      addresses: { held: 4000, used: 3100, excess: 250 },
      departures: { marked: 12, ready: 3, released: 4, refused: 1, hidden: 20, unassigned: 77 },
      pods: { served: 1800, waiting: 12, maxWait: 12_345 },
      interfaces: { attached: 650, detached: 3 },
      subnets: Array.from({ length: 6 }, (_, index) => subnet(index)),
      calls: actions.map((action) => ({ action, isRead: false, calls: 1234, throttled: 56 })),
      violations: Array.from({ length: violations }, (_, index) => ({
        what: 'agent-violation' as const,
        node: 'n',
        address: '10.0.0.1',
        user: 'default/a',
        text: `${index} ${'something is broken '.repeat(8)}`,
      })),
    },
    hints: [],
    notes: [],
    decisions: Array.from({ length: 8 }, (_, index) => `decision ${index} ${'and more '.repeat(12)}`),
    ...change,
  };
}

/** What each chapter suggests to look at when it starts, by title. */
function everyLook(): [string, readonly string[]][] {
  const { nodes, seed } = { nodes: 50, seed: 'headwater' };
  const environment = { clock: new VirtualClock(), random: new Random(seed), pace: 1 };
  const context = {
    nodes,
    controllerPid: () => undefined,
    replaceController: () => undefined,
    run: () => undefined,
    report: () => undefined,
  };
  const topology = demoTopology(nodes, seed);
  const ec2 = createEmbeddedCluster({ topology, ...environment, configure: configureNode });
  const onAzure = createEmbeddedAzure({
    topology: azureTopology(nodes, seed),
    ...environment,
    configure: configureAzureNode,
  });
  const onAlibaba = createEmbeddedAlibaba({
    topology: alibabaTopology(nodes, seed),
    ...environment,
    configure: configureAlibabaNode,
  });
  const chapters = [
    ...chaptersFor({ ...context, cluster: ec2 }),
    ...azureChapters({ ...context, cluster: onAzure }),
    ...alibabaChapters({ ...context, cluster: onAlibaba }, leaveInterfaces(onAlibaba.network)),
  ];
  return chapters.map(({ title, hints }) => [title, hints.map((line) => `   ${line}`)]);
}

describe('a frame', () => {
  test('is never wider or higher than the terminal', () => {
    const size = fc.record({
      columns: fc.integer({ min: 20, max: 200 }),
      rows: fc.integer({ min: 5, max: 60 }),
    });
    fc.assert(
      fc.property(size, fc.integer({ min: 0, max: 9 }), (room, violations) => {
        const lines = frameLines(frame({}, violations), room);

        expect(lines.length).toBeLessThanOrEqual(room.rows);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(room.columns);
      }),
    );
  });

  test('shows everything important on 24 rows of 80 columns', () => {
    const text = frameLines(frame({}, 1), { columns: 80, rows: 23 }).join('\n');

    for (const shown of [
      '200 in all',
      '183 lacking',
      '99 of 100 nodes with one IPv6 /80',
      '12 waiting',
      'pods-5',
      'reads 0',
      'BROKEN: 0',
      'decision 7',
    ])
      expect(text).toContain(shown);
  });

  test.each(everyLook())(
    'keeps the text of the chapter %s in its place, whatever happens, on 24 rows of 80 columns',
    (_, hints) => {
      const notes = Array.from(
        { length: 9 },
        (__, index) => `   NEWS ${index} ${'of some length '.repeat(7)}`,
      );
      const size = { columns: 80, rows: 23 };

      const before = frameLines(frame({ hints }), size);
      const after = frameLines(frame({ hints, notes }, 1), size);

      const text = hints.map((line) => line.trim()).join(' ');
      const place = before.findIndex((line) => line === '');
      expect(
        before
          .slice(1, place)
          .map((line) => line.trim())
          .join(' '),
      ).toBe(text);
      expect(after.slice(1, place)).toEqual(before.slice(1, place));
      expect(after.length).toBeLessThanOrEqual(23);
      for (const shown of ['NEWS 8', '183 lacking', '12 waiting', 'reads 0', 'BROKEN: 0'])
        expect(after.join('\n')).toContain(shown);
    },
  );

  test('leaves the last row of a live screen to the cursor', () => {
    const written: string[] = [];
    const screen = liveScreen({ write: (text) => written.push(text), columns: 80, rows: 24 });
    for (let index = 0; index < 20; index++) screen.decide(`decision ${index}`);

    screen.show(frame());

    expect(written.join('').split('\n').length).toBeLessThanOrEqual(24);
  });
});

describe('plain output', () => {
  test('shows the subnets at times', () => {
    const written: string[] = [];
    const screen = plainScreen({ write: (text) => written.push(text), columns: 80, rows: 24 });

    for (let elapsed = 0; elapsed <= 30; elapsed++) screen.show(frame({ elapsed }));

    const lines = written.filter((text) => text.includes('subnets: pods-0 0/2043, pods-1 100/2043'));
    expect(lines).toHaveLength(3);
  });
});
