// The figures of the agent of a node, in the order of the table.
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../rig/child-process.ts';
import { sleep } from '../../src/runtime/clock.ts';
import type { Figure, Reading } from '../figure.ts';
import { percentile } from '../percentile.ts';
import type { Harness, Scenarios } from '../scenarios/scenarios.ts';
import { AgentProcess, emptyNodeBytes, readingTime, residentBytes } from './agent-process.ts';
import { idle } from './idle.ts';
import { call, confOf, type Contender, subnet, type Times, timesOf, type Verb } from './plugin-calls.ts';
import { restTimes } from './rest-speed.ts';

export interface AgentSizes {
  /** How many calls of each verb are made, one after another. */
  readonly calls: number;
  readonly attachments: number;
  readonly idleMinutes: number;
  /** The path of the host-local program. */
  readonly hostLocal: string;
}

const plugin = join(root, 'plugin/dist/headwater-ipam');
const together = 30;
const rounds = 10;
/** For medians of a few runs. */
const repeats = 5;
const megabyte = 1e6;

type Bound = Pick<Figure, 'bound' | 'limit' | 'unit'>;
const atMost = (limit: number, unit = ''): Bound => ({ bound: 'atMost', limit, unit });

const verbs: readonly Verb[] = ['ADD', 'DEL'];

export function agentFigures(sizes: AgentSizes): readonly Figure[] {
  const { calls, attachments, idleMinutes, hostLocal } = sizes;
  const speed = (scenarios: Scenarios): Promise<Speeds> => scenarios.played({ calls, hostLocal }, speeds);
  const ratio =
    (form: keyof Speed, verb: Verb, share: keyof Times) =>
    async (scenarios: Scenarios): Promise<Reading> => {
      const { ours, theirs } = await speed(scenarios);
      const [own, other] = [ours[form][verb][share], theirs[form][verb][share]];
      return { measured: own / other, details: `${own.toFixed(2)} ms, host-local ${other.toFixed(2)} ms` };
    };
  return [
    ...verbs.flatMap((verb) =>
      (['p50', 'p99'] as const).flatMap((share): readonly Figure[] => [
        {
          name: `${verb.toLowerCase()}-${share}`,
          title: `${verb}, one after another, over host-local: ${share}`,
          ...atMost(1),
          scenario: `${calls} calls of the plugin, from the start of its process to its end.`,
          measure: ratio('alone', verb, share),
        },
        {
          name: `${verb.toLowerCase()}-together-${share}`,
          title: `${together} ${verb} at once, over host-local: ${share}`,
          ...atMost(1),
          scenario: `${rounds} times ${together} plugins.`,
          measure: ratio('together', verb, share),
        },
      ]),
    ),
    {
      name: 'del-among-many',
      title: `DEL with ${attachments} attachments, over host-local`,
      ...atMost(0.1),
      scenario: `The median of ${together} calls. host-local reads the file of each attachment.`,
      measure: (scenarios) => scenarios.played({ attachments, hostLocal }, deleteAmongMany),
    },
    {
      name: 'rest',
      title: 'REST allocation and release, over two requests to an empty handler',
      ...atMost(2),
      scenario: `${calls} of each one after another on a Unix socket, by turns; of the fastest turn. The empty handler is node:http in a process of its own.`,
      measure: (scenarios) => scenarios.played({ calls }, restSpeed),
    },
    {
      name: 'plugin-memory',
      title: 'the plugin: memory',
      ...atMost(2, 'MB'),
      scenario: 'Resident, while it waits for the end of its input.',
      measure: (scenarios) => scenarios.played({}, pluginMemory),
    },
    {
      name: 'plugin-size',
      title: 'the plugin: size',
      ...atMost(1, 'MB'),
      scenario: 'The file.',
      measure: () => Promise.resolve({ measured: statSync(plugin).size / megabyte, details: '' }),
    },
    {
      name: 'memory-250',
      title: 'the agent with 250 pods, above an empty Node.js',
      ...atMost(20, 'MB'),
      scenario: 'Resident, a second after the last of them.',
      measure: (scenarios) => scenarios.played({ attachments: 250 }, agentMemory),
    },
    {
      name: 'memory-many',
      title: `the agent with ${attachments} attachments, above an empty Node.js`,
      ...atMost(40, 'MB'),
      scenario: 'The same.',
      measure: (scenarios) => scenarios.played({ attachments }, agentMemory),
    },
    {
      name: 'start-among-many',
      title: `what ${attachments} attachments add to a start, over reading the record, in CPU time`,
      ...atMost(3),
      scenario: `Until it serves; the medians of ${repeats} starts with and without them. Reading: every line of its files, parsed.`,
      measure: (scenarios) => scenarios.played({ attachments }, startAmongMany),
    },
    {
      name: 'idle',
      title: `${idleMinutes} idle minutes: writes to the API server, and bytes of the record`,
      bound: 'exactly',
      limit: 0,
      unit: '',
      scenario: 'With cluster-pool and ten pods, on the embedded API server.',
      measure: (scenarios) => scenarios.played({ minutes: idleMinutes }, idle),
    },
  ];
}

interface Speed {
  readonly alone: Readonly<Record<Verb, Times>>;
  readonly together: Readonly<Record<Verb, Times>>;
}

interface Speeds {
  readonly ours: Speed;
  readonly theirs: Speed;
}

interface SpeedPlan {
  readonly calls: number;
  readonly hostLocal: string;
}

/** Both by turns, so that what else runs on the machine slows both. */
async function speeds({ calls, hostLocal }: SpeedPlan): Promise<Speeds> {
  return withContenders(hostLocal, async (contenders) => {
    const alone = await alternating(contenders, calls, 1);
    const many = await alternating(contenders, rounds, together);
    const speedOf = (index: number): Speed => ({
      alone: { ADD: timesOf(alone[index]?.ADD ?? []), DEL: timesOf(alone[index]?.DEL ?? []) },
      together: { ADD: timesOf(many[index]?.ADD ?? []), DEL: timesOf(many[index]?.DEL ?? []) },
    });
    return { ours: speedOf(0), theirs: speedOf(1) };
  });
}

async function alternating(
  contenders: readonly Contender[],
  count: number,
  width: number,
): Promise<readonly Readonly<Record<Verb, number[]>>[]> {
  const times = contenders.map(() => ({ ADD: [] as number[], DEL: [] as number[] }));
  for (const verb of verbs) {
    for (let round = 0; round < count; round++) {
      for (const [index, contender] of contenders.entries()) {
        const ids = Array.from({ length: width }, (_, member) => `c${width}-${round}-${member}`);
        times[index]?.[verb].push(...(await Promise.all(ids.map((id) => call(contender, verb, id)))));
      }
    }
  }
  return times;
}

async function withContenders<T>(
  hostLocal: string,
  use: (contenders: readonly [Contender, Contender], agent: AgentProcess) => Promise<T>,
): Promise<T> {
  const agent = new AgentProcess();
  const networks = mkdtempSync(join(tmpdir(), 'headwater-host-local-'));
  try {
    await agent.start();
    const ours = { name: 'headwater-ipam', program: plugin, ipam: { socket: agent.socket } };
    const ipam = { ranges: [[{ subnet }]], dataDir: networks };
    return await use([ours, { name: 'host-local', program: hostLocal, ipam }], agent);
  } finally {
    await agent.remove();
    rmSync(networks, { recursive: true });
  }
}

async function deleteAmongMany(plan: {
  readonly attachments: number;
  readonly hostLocal: string;
}): Promise<Reading> {
  return withContenders(plan.hostLocal, async (contenders, agent) => {
    const [ours, theirs] = contenders;
    const medians: number[] = [];
    for (const contender of contenders)
      for (let index = 0; index < together; index++) await call(contender, 'ADD', `c${index}`);
    await agent.many('ADD', 0, plan.attachments, ours);
    // Write the files that host-local writes for attachments.
    const { dataDir } = theirs.ipam as { readonly dataDir: string };
    for (let index = 0; index < plan.attachments; index++) {
      const name = `10.64.${100 + Math.floor(index / 256)}.${index % 256}`;
      writeFileSync(join(dataDir, 'pods', name), `filler-${index}\r\neth0`);
    }
    for (const contender of contenders) {
      const times: number[] = [];
      for (let index = 0; index < together; index++) times.push(await call(contender, 'DEL', `c${index}`));
      medians.push(percentile(times, 0.5));
    }
    const [own = 0, other = 1] = medians;
    return { measured: own / other, details: `${own.toFixed(2)} ms, host-local ${other.toFixed(2)} ms` };
  });
}

async function restSpeed({ calls }: { readonly calls: number }): Promise<Reading> {
  const agent = new AgentProcess();
  try {
    await agent.start();
    const { ours, empty } = await restTimes(agent, calls);
    const words = (ms: number): string => `${(1000 / ms).toFixed(0)} pairs/s`;
    return { measured: ours / empty, details: `${words(ours)}, the empty handler ${words(empty)}` };
  } finally {
    await agent.remove();
  }
}

async function pluginMemory(_: object, { clock, signal }: Harness): Promise<Reading> {
  const child = spawn(plugin, [], { env: { CNI_COMMAND: 'VERSION' }, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.write(confOf({ name: 'headwater-ipam', ipam: {} }));
  await sleep(clock, 1000, signal);
  const resident = residentBytes(child.pid ?? 0);
  child.stdin.end();
  await once(child, 'exit');
  return { measured: resident / megabyte, details: '' };
}

async function agentMemory(
  { attachments }: { readonly attachments: number },
  { clock, signal }: Harness,
): Promise<Reading> {
  const agent = new AgentProcess();
  try {
    await agent.start();
    await agent.many('ADD', 0, attachments, { name: 'headwater-ipam', ipam: {} });
    await sleep(clock, 1000, signal);
    const [resident, empty] = [agent.resident, await emptyNodeBytes()];
    const words = (bytes: number): string => `${(bytes / megabyte).toFixed(1)} MB`;
    return { measured: (resident - empty) / megabyte, details: `${words(resident)}, empty ${words(empty)}` };
  } finally {
    await agent.remove();
  }
}

async function startAmongMany({ attachments }: { readonly attachments: number }): Promise<Reading> {
  const [empty, full] = [new AgentProcess(), new AgentProcess()];
  try {
    await full.start();
    await full.many('ADD', 0, attachments, { name: 'headwater-ipam', ipam: {} });
    await full.stop();
    const times: Record<'empty' | 'full' | 'reading', number[]> = { empty: [], full: [], reading: [] };
    for (let repeat = 0; repeat < repeats; repeat++) {
      times.empty.push(await empty.start());
      await empty.stop();
      times.full.push(await full.start());
      await full.stop();
      times.reading.push(await readingTime(full.record().keys()));
    }
    const median = (of: readonly number[]): number => percentile(of, 0.5);
    const [without, having, reading] = [median(times.empty), median(times.full), median(times.reading)];
    const words = (ms: number): string => `${ms.toFixed(0)} ms`;
    return {
      measured: Math.max(0, having - without) / reading,
      details: `start ${words(having)}, without attachments ${words(without)}, reading ${words(reading)}`,
    };
  } finally {
    await empty.remove();
    await full.remove();
  }
}
