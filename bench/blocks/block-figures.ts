// The figures of blocks to nodes, in the order of the table.
import type { Figure, Reading } from '../figure.ts';
import type { Scenarios } from '../scenarios/scenarios.ts';
import { type AllocationPlan, type AllocationTime, allocation } from './allocation.ts';
import { demand } from './demand.ts';
import { poolChanges } from './pool-changes.ts';
import { type Life, life } from './life.ts';
import type { SetSpeed } from './set-speed.ts';

export interface BlockSettings {
  /** The larger fleet; the smaller one is a fifth. */
  readonly nodes: number;
  readonly idleMinutes: number;
}

export interface SetSpeeds {
  readonly ours: SetSpeed;
  /** The speed of Kubernetes' own set. */
  readonly theirs: Omit<SetSpeed, 'bytesEach'>;
}

type Bound = Pick<Figure, 'bound' | 'limit' | 'unit'>;

const atMost = (limit: number, unit = ''): Bound => ({ bound: 'atMost', limit, unit });
const exactly = (limit: number): Bound => ({ bound: 'exactly', limit, unit: '' });

export function blockFigures(
  { nodes, idleMinutes }: BlockSettings,
  speeds: () => Promise<SetSpeeds>,
): readonly Figure[] {
  const small = Math.ceil(nodes / 5);
  const lived = (scenarios: Scenarios): Promise<Life> => scenarios.played({ nodes, idleMinutes }, life);
  const over =
    (plan: Omit<AllocationPlan, 'by'>, by: AllocationPlan['by']) =>
    async (scenarios: Scenarios): Promise<Reading> => {
      const theirs = await scenarios.played({ ...plan, by }, allocation);
      const ours = await scenarios.played({ ...plan, by: 'headwater' }, allocation);
      const words = (time: AllocationTime): string =>
        `${time.seconds.toFixed(2)} s, ${time.sinceStart.toFixed(2)} s from the start of its process`;
      return {
        measured: ours.seconds / theirs.seconds,
        details: `Headwater ${words(ours)}; ${by} ${words(theirs)}`,
      };
    };
  const untilLast = (plan: Omit<AllocationPlan, 'by'>): Figure => ({
    name: `${plan.scope}-${plan.nodes}`,
    title: `${plan.nodes} ${objectsOf(plan)}: time over the same patches alone`,
    ...atMost(plan.scope === 'multi-pool' ? 1.2 : 1.15),
    scenario:
      'From when they are listed until the last has its block, over plain patches by as many connections.',
    measure: over(plan, 'plain'),
  });
  const all = { scope: 'nodeipam', nodes } as const;
  const allCiliumNodes = { scope: 'cluster-pool', nodes } as const;
  return [
    untilLast({ scope: 'cluster-pool', nodes: small }),
    untilLast(allCiliumNodes),
    untilLast({ scope: 'nodeipam', nodes: small }),
    untilLast(all),
    untilLast({ scope: 'multi-pool', nodes: small }),
    {
      name: 'pools-dry',
      title: 'a node that asks a pool for 100 addresses: from the answer to its write until it has blocks',
      ...atMost(100, 'ms'),
      scenario: 'Median of 20 CiliumNodes, one after another, with nothing else at work.',
      measure: async (scenarios) => {
        const { median, max } = await scenarios.played({ tries: 20 }, demand);
        return { measured: median, details: `longest ${max.toFixed(0)} ms` };
      },
    },
    {
      name: 'pools-writes',
      title: `writes to each of ${small} CiliumNodes with pools, for a change of what it asks`,
      ...exactly(1),
      scenario: 'Counted by the API server. Each asks two pools for more than a block.',
      measure: async (scenarios) => {
        const { first, change } = await scenarios.played({ nodes: small, idleMinutes }, poolChanges);
        return { measured: change, details: `for its first blocks ${first.toFixed(3)}` };
      },
    },
    {
      name: 'pools-idle',
      title: `writes and lists with ${small} CiliumNodes with pools, idle for ${idleMinutes} min`,
      ...exactly(0),
      scenario: 'All served. Counted by the API server, the Lease apart.',
      measure: async (scenarios) => {
        const { idle } = await scenarios.played({ nodes: small, idleMinutes }, poolChanges);
        const details = [...idle].map(([key, count]) => `${key} ${count}`).join(', ');
        return { measured: [...idle.values()].reduce((sum, count) => sum + count, 0), details };
      },
    },
    {
      name: 'over-peer',
      title: `${nodes} Nodes: time over Kubernetes' node-ipam-controller`,
      ...atMost(0.2),
      scenario: 'With its default limits, 20 requests/s and 30 at once.',
      measure: over(all, 'peer'),
    },
    {
      name: 'over-unlimited-peer',
      title: `${nodes} Nodes: the same, with --kube-api-qps=5000 --kube-api-burst=5000`,
      ...atMost(1),
      scenario: 'With limits that it does not reach.',
      measure: over(all, 'unlimitedPeer'),
    },
    {
      name: 'over-operator-model',
      title: `${nodes} CiliumNodes: time over cilium-operator's algorithm`,
      ...atMost(0.2),
      scenario:
        'A model, not the program: one write at a time, the object and then its status, without its pauses.',
      measure: over(allCiliumNodes, 'operatorModel'),
    },
    {
      name: 'writes-each',
      title: 'writes to each object',
      ...exactly(1),
      scenario:
        'Counted by the API server. If the kinds of objects differ, those that are farther off count.',
      measure: async (scenarios) => {
        const kinds = [
          (await scenarios.played({ ...allCiliumNodes, by: 'headwater' }, allocation)).writesEach,
          (await scenarios.played({ ...all, by: 'headwater' }, allocation)).writesEach,
          (await scenarios.played({ scope: 'multi-pool', nodes: small, by: 'headwater' }, allocation))
            .writesEach,
        ] as const;
        const details = `CiliumNodes ${kinds[0].toFixed(3)}, Nodes ${kinds[1].toFixed(3)}, with pools ${kinds[2].toFixed(3)}`;
        const [measured = NaN] = kinds.toSorted((a, b) => Math.abs(b - 1) - Math.abs(a - 1));
        return { measured, details };
      },
    },
    {
      name: 'idle',
      title: `writes and lists, idle for ${idleMinutes} min`,
      ...exactly(0),
      scenario: `${nodes} CiliumNodes and their Nodes, all served. Counted by the API server, the Lease apart.`,
      measure: async (scenarios) => {
        const { idle } = await lived(scenarios);
        const details = [...idle].map(([key, count]) => `${key} ${count}`).join(', ');
        return { measured: [...idle.values()].reduce((sum, count) => sum + count, 0), details };
      },
    },
    {
      name: 'restart',
      title: 'restart until a new node is served, over one list',
      ...atMost(1.5),
      scenario: `What ${nodes} CiliumNodes add to it: less what it takes without any. Medians of five.`,
      measure: async (scenarios) => {
        const { restart, list } = await lived(scenarios);
        const details = `${restart.full.toFixed(0)} ms less ${restart.empty.toFixed(0)} ms, one list ${list.toFixed(0)} ms`;
        return { measured: (restart.full - restart.empty) / list, details };
      },
    },
    {
      name: 'memory',
      title: 'peak memory above the process without nodes',
      ...atMost(60, 'MB'),
      scenario: `${nodes} CiliumNodes and their Nodes; VmHWM after all are served.`,
      measure: async (scenarios) => {
        const { full, empty } = (await lived(scenarios)).memory;
        const details = `${(full / 1e6).toFixed(1)} MB less ${(empty / 1e6).toFixed(1)} MB`;
        return { measured: (full - empty) / 1e6, details };
      },
    },
    ...setFigures(speeds),
  ];
}

function setFigures(speeds: () => Promise<SetSpeeds>): readonly Figure[] {
  const compared = (name: keyof SetSpeeds['theirs']) => async (): Promise<Reading> => {
    const { ours, theirs } = await speeds();
    const details = `${ours[name].toFixed(0)} ns, theirs ${theirs[name]} ns`;
    return { measured: theirs[name] === 0 ? Infinity : ours[name] / theirs[name], details };
  };
  return [
    {
      name: 'set-empty-to-full',
      title: "2^16 blocks, empty to full: time of an allocation over Go's cidrset",
      ...atMost(1),
      scenario: 'An allocation and its CIDR; best of 20 rounds.',
      measure: compared('emptyToFull'),
    },
    {
      name: 'set-nearly-full',
      title: 'the same with 99 % taken',
      ...atMost(0.05),
      scenario: 'One block in a hundred is free, anywhere.',
      measure: compared('nearlyFull'),
    },
    {
      name: 'set-far-away',
      title: 'the same with one free block, a whole lap away',
      ...atMost(0.05),
      scenario: 'What a full network costs that a single node leaves.',
      measure: compared('farAway'),
    },
    {
      name: 'set-bytes',
      title: 'bytes a block',
      ...atMost(0.25, 'B'),
      scenario: 'Heap and buffers of a set of 2^16 blocks.',
      measure: async () => ({ measured: (await speeds()).ours.bytesEach, details: '' }),
    },
  ];
}

function objectsOf({ scope }: Pick<AllocationPlan, 'scope'>): string {
  return scope === 'nodeipam' ? 'Nodes' : 'CiliumNodes';
}
