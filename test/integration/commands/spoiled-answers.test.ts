import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { objectAt, textAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { type Delivery, kinds, spoiled } from '../../support/spoiled-answers.ts';
import { type SpoilingFront, startSpoilingFront } from '../../support/spoiling-front.ts';
import { Child, endAll } from './child.ts';
import { announce, simulate, smallCloud, supplyKeys } from './simulated.ts';

const preAllocate = 4;
/** How long every answer to a read is spoiled, in ms. */
const spoiledFor = 30_000;
const nodes = Array.from({ length: 10 }, (_, index) => ({
  name: `node-${index}`,
  instanceId: `i-${String(index).padStart(17, '0')}`,
}));
const cloud = smallCloud().replace(
  /instances:\n(.*\n)+?limits/,
  `instances:\n${nodes
    .map(
      ({ name, instanceId }) =>
        `  - { name: ${name}, id: ${instanceId}, type: m5.large, subnet: a, securityGroups: [nodes] }\n`,
    )
    .join('')}limits`,
);

let directory = '';
let front: SpoilingFront | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-spoiled-'));
});

afterEach(async () => {
  await endAll();
  await front?.close();
});
afterAll(() => rm(directory, { recursive: true }));

/** Spoils each answer with the next kind that can change it. */
class Spoiler {
  isOn = false;
  readonly met = new Map<string, number>();
  readonly #random = new Random('spoiled for a while');
  #turn = 0;

  spoil(action: string, answer: string): Delivery | undefined {
    if (!this.isOn || !action.startsWith('Describe')) return undefined;
    const names = Object.keys(kinds);
    for (const _ of names) {
      const name = names[this.#turn++ % names.length] ?? '';
      const delivery = spoiled(name, answer, this.#random);
      if (delivery === undefined) continue;
      this.met.set(name, (this.met.get(name) ?? 0) + 1);
      return delivery;
    }
    return undefined;
  }
}

/** The CiliumNodes of an API, and the addresses that their agents use. */
class Nodes {
  readonly #url: string;
  readonly #used = new Map<string, ReadonlySet<string>>();
  /** Violations; must stay empty. */
  readonly broken = new Set<string>();

  constructor(api: string) {
    this.#url = `${api}/apis/cilium.io/v2/ciliumnodes`;
  }

  /** Free addresses of each node, in ascending order; also checks for violations. */
  async free(): Promise<readonly number[]> {
    const { items } = (await (await fetch(this.#url)).json()) as { readonly items: readonly JsonObject[] };
    const holders = new Map<string, string>();
    const free = items.map((node) => {
      const name = textAt(node, 'metadata', 'name');
      const pool = Object.keys(objectAt(node, 'spec', 'ipam', 'pool'));
      for (const address of pool) {
        if (holders.has(address)) this.broken.add(`${address} is on ${holders.get(address)} and on ${name}`);
        holders.set(address, name);
      }
      const used = this.#used.get(name) ?? new Set();
      for (const address of used)
        if (!pool.includes(address)) this.broken.add(`${address} in use left the pool of ${name}`);
      const shown = new Set(
        Object.values(objectAt(node, 'status', 'eni', 'enis')).flatMap((eni) => addressesIn(eni)),
      );
      for (const address of used)
        if (!shown.has(address)) this.broken.add(`${address} in use left the status of ${name}`);
      return pool.length - used.size;
    });
    return free.toSorted((a, b) => a - b);
  }

  /** Pods use the first `count` addresses of a node. */
  async use(name: string, count: number): Promise<void> {
    const node = (await (await fetch(`${this.#url}/${name}`)).json()) as JsonObject;
    const taken = Object.keys(objectAt(node, 'spec', 'ipam', 'pool')).slice(0, count);
    const used = Object.fromEntries(taken.map((address) => [address, { owner: `default/${address}` }]));
    const answer = await fetch(`${this.#url}/${name}/status`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ status: { ipam: { used } } }),
    });
    expect(answer.status).toBe(200);
    this.#used.set(name, new Set(taken));
  }

  /** How long it takes until this many nodes have what they need, in ms. */
  async until(count: number, limit: number): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      const free = await this.free();
      const took = performance.now() - startedAt;
      if (free.length === count && (free[0] ?? 0) >= preAllocate) return took;
      if (took > limit) throw new Error(`after ${limit} ms, nodes have ${free.join()} free addresses`);
      await pause(100);
    }
  }
}

function addressesIn(eni: unknown): readonly string[] {
  const { addresses = [] } = eni as { readonly addresses?: readonly string[] };
  return addresses;
}

/** Real time passes here, with checks for violations meanwhile. */
function pause(ms: number): Promise<void> {
  return sleep(systemClock, ms, new AbortController().signal);
}

/** Memory limit in MiB. */
async function peakOf({ pid }: Child): Promise<number> {
  const [, kibibytes] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

test('no node loses an address in use while answers are spoiled, and nodes reach their watermarks within 10 s after the last spoiled answer', async () => {
  const { ec2, api, kubeconfig } = await simulate(join(directory, 'cluster'), cloud);
  const spoiler = new Spoiler();
  front = await startSpoilingFront(ec2, (action, answer) => spoiler.spoil(action, answer));
  const child = new Child(
    [
      'run',
      '--k8s-kubeconfig-path',
      kubeconfig,
      '--ec2-api-endpoint',
      front.url,
      '--aws-region=us-east-1',
      '--serve-addr=127.0.0.1:0',
      '--resync-interval=10s',
    ],
    { environment: supplyKeys },
  );
  const served = new Nodes(api);
  const [early, late] = [nodes.slice(0, 8), nodes.slice(8)];
  for (const { name, instanceId } of early) await announce(api, name, instanceId);
  await served.until(8, 30_000);
  for (const { name } of early) await served.use(name, 4);
  await served.until(8, 10_000);
  const normal = await peakOf(child);

  spoiler.isOn = true;
  for (const { name, instanceId } of late) await announce(api, name, instanceId);
  const end = performance.now() + spoiledFor;
  for (const { name } of early) {
    await served.use(name, 6);
    await served.free();
    await pause(500);
  }
  while (performance.now() < end) {
    await served.free();
    await pause(100);
  }
  spoiler.isOn = false;

  const took = await served.until(10, 10_000);
  const peak = await peakOf(child);
  const spoiledAnswers = [...spoiler.met.values()].reduce((sum, count) => sum + count, 0);

  expect([...served.broken]).toEqual([]);
  expect(took).toBeLessThan(10_000);
  expect(peak).toBeLessThan(2 * normal);
  expect(spoiledAnswers).toBeGreaterThan(30);
  expect(await child.stop()).toMatchObject({ code: 0 });
});
