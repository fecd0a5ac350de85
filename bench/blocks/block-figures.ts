// The figures of blocks to nodes, in the order of the table.
import type { Figure, FigureContext, Reading } from '../figure.ts';
import { type AllocationPlan, type AllocationTime, allocation } from './allocation.ts';
import { type Life, life } from './life.ts';
import type { SetSpeed } from './set-speed.ts';

export interface BlockSettings {
  /** The larger fleet; the smaller one is a fifth. */
  readonly nodes: number;
  readonly idleMinutes: number;
}

export interface SetSpeeds {
  readonly ours: SetSpeed;
  /** Of Kubernetes' set. */
  readonly theirs: Omit<SetSpeed, 'bytesEach'>;
}

type Bound = Pick<Figure, 'bound' | 'limit' | 'unit'>;

const atMost = (limit: number, unit = ''): Bound => ({ bound: 'atMost', limit, unit });

export function blockFigures(
  { nodes, idleMinutes }: BlockSettings,
  speeds: () => Promise<SetSpeeds>,
): readonly Figure[] {
  const small = Math.ceil(nodes / 5);
  const played = (context: FigureContext, plan: AllocationPlan): Promise<AllocationTime> =>
    context.scenarios.played(plan, allocation);
  const lived = (context: FigureContext): Promise<Life> =>
    context.scenarios.played({ nodes, idleMinutes }, life);
  const over =
    (plan: Omit<AllocationPlan, 'by'>, by: AllocationPlan['by']) =>
    async (context: FigureContext): Promise<Reading> => {
      const theirs = await played(context, { ...plan, by });
      const ours = await played(context, { ...plan, by: 'headwater' });
      const words = (time: AllocationTime): string =>
        `${time.seconds.toFixed(2)} s, ${time.sinceStart.toFixed(2)} s from the start of its process`;
      return {
        measured: ours.seconds / theirs.seconds,
        details: `Headwater ${words(ours)}; ${by} ${words(theirs)}`,
      };
    };
  const untilLast = (plan: Omit<AllocationPlan, 'by'>): Figure =>
    figure(
      `${plan.scope}-${plan.nodes}`,
      `${plan.nodes} ${objectsOf(plan)}: time over the same patches alone`,
      atMost(1.15),
      {
        scenario:
          'From when they are listed until the last has its block, over plain patches by as many connections.',
        measure: over(plan, 'plain'),
      },
    );
  const all = { scope: 'nodeipam', nodes } as const;
  const allCiliumNodes = { scope: 'cluster-pool', nodes } as const;
  return [
    untilLast({ scope: 'cluster-pool', nodes: small }),
    untilLast(allCiliumNodes),
    untilLast({ scope: 'nodeipam', nodes: small }),
    untilLast(all),
    figure('over-peer', `${nodes} Nodes: time over Kubernetes' node-ipam-controller`, atMost(0.2), {
      scenario: 'With its default limits, 20 requests/s and 30 at once.',
      measure: over(all, 'peer'),
    }),
    figure(
      'over-unlimited-peer',
      `${nodes} Nodes: the same, with --kube-api-qps=5000 --kube-api-burst=5000`,
      atMost(1),
      {
        scenario: 'With limits that it does not reach.',
        measure: over(all, 'unlimitedPeer'),
      },
    ),
    figure(
      'over-operator-model',
      `${nodes} CiliumNodes: time over cilium-operator's algorithm`,
      atMost(0.2),
      {
        scenario:
          'A model, not the program: one write at a time, the object and then its status, without its pauses.',
        measure: over(allCiliumNodes, 'operatorModel'),
      },
    ),
    figure(
      'writes-each',
      'writes to each object',
      { bound: 'exactly', limit: 1, unit: '' },
      {
        scenario: 'Counted by the API server.',
        measure: async (context) => {
          const [first, second] = [
            await played(context, { ...allCiliumNodes, by: 'headwater' }),
            await played(context, { ...all, by: 'headwater' }),
          ];
          const details = `CiliumNodes ${first.writesEach.toFixed(3)}, Nodes ${second.writesEach.toFixed(3)}`;
          return { measured: Math.max(first.writesEach, second.writesEach), details };
        },
      },
    ),
    figure(
      'idle',
      `writes and lists, idle for ${idleMinutes} min`,
      { bound: 'exactly', limit: 0, unit: '' },
      {
        scenario: `${nodes} CiliumNodes and their Nodes, all served. Counted by the API server, the Lease apart.`,
        measure: async (context) => {
          const { idle } = await lived(context);
          const details = [...idle].map(([key, count]) => `${key} ${count}`).join(', ');
          return { measured: [...idle.values()].reduce((sum, count) => sum + count, 0), details };
        },
      },
    ),
    figure('restart', 'restart until a new node is served, over one list', atMost(1.5), {
      scenario: `What ${nodes} CiliumNodes add to it: less what it takes without any. Medians of five.`,
      measure: async (context) => {
        const { restart, list } = await lived(context);
        const details = `${restart.full.toFixed(0)} ms less ${restart.empty.toFixed(0)} ms, one list ${list.toFixed(0)} ms`;
        return { measured: (restart.full - restart.empty) / list, details };
      },
    }),
    figure('memory', 'peak memory above the process without nodes', atMost(60, 'MB'), {
      scenario: `${nodes} CiliumNodes and their Nodes; VmHWM after all are served.`,
      measure: async (context) => {
        const { full, empty } = (await lived(context)).memory;
        const details = `${(full / 1e6).toFixed(1)} MB less ${(empty / 1e6).toFixed(1)} MB`;
        return { measured: (full - empty) / 1e6, details };
      },
    }),
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
    figure(
      'set-empty-to-full',
      "2^16 blocks, empty to full: time of an allocation over Go's cidrset",
      atMost(1),
      {
        scenario: 'An allocation and its CIDR; best of 20 rounds.',
        measure: compared('emptyToFull'),
      },
    ),
    figure('set-nearly-full', 'the same with 99 % taken', atMost(0.05), {
      scenario: 'One block in a hundred is free, anywhere.',
      measure: compared('nearlyFull'),
    }),
    figure('set-far-away', 'the same with one free block, a whole lap away', atMost(0.05), {
      scenario: 'What a full network costs that a single node leaves.',
      measure: compared('farAway'),
    }),
    figure('set-bytes', 'bytes a block', atMost(0.25, 'B'), {
      scenario: 'Heap and buffers of a set of 2^16 blocks.',
      measure: async () => ({ measured: (await speeds()).ours.bytesEach, details: '' }),
    }),
  ];
}

function figure(
  name: string,
  title: string,
  bound: Bound,
  { scenario, measure }: { readonly scenario: string; readonly measure: Figure['measure'] },
): Figure {
  return { name, title, ...bound, inSmallForm: false, scenario: () => scenario, measure };
}

function objectsOf({ scope }: Pick<AllocationPlan, 'scope'>): string {
  return scope === 'nodeipam' ? 'Nodes' : 'CiliumNodes';
}
