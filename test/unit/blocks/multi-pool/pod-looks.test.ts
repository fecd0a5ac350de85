// When the pods of a node are looked at whose agent dropped blocks, and about which of them a look decides.
import { describe, expect, test } from '@jest/globals';
import { BlockLedger } from '../../../../src/blocks/allocation/block-ledger.ts';
import { PodLooks } from '../../../../src/blocks/cluster-pool/pod-looks.ts';
import { PoolPolicy } from '../../../../src/blocks/multi-pool/pool-policy.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../../../../src/blocks/multi-pool/pool-node-holder.ts';
import { readCiliumPodIpPool } from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { Json } from '../../../../src/runtime/json.ts';
import type { PodReading, ShownPod } from '../../../../src/kubernetes/watch/shown-pods.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { rethrow } from '../../../support/rethrow.ts';

const uid = 'uid-one';
const [a, b, c] = ['10.0.0.0/27', '10.0.0.32/27', '10.0.0.64/27'];

/** The node as it stands in the state `version`. */
function listing(version: number, cidrs: readonly Json[], needed: number): PoolNodeHolder {
  return poolNodeHolder({
    metadata: { name: 'one', uid, resourceVersion: String(version) },
    spec: {
      ipam: {
        pools: {
          requested: [{ pool: 'default', needed: { 'ipv4-addrs': needed } }],
          allocated: [{ pool: 'default', cidrs }],
        },
      },
    },
  });
}

/** Nothing is written. */
const unwritable = { patch: () => Promise.resolve({ kind: 'gone' } as const) };

/** A pool, one node of it, and looks at its pods that are answered by hand. */
class Scene {
  readonly clock = new VirtualClock();
  readonly ledger = new BlockLedger([]);
  readonly policy = new PoolPolicy(this.ledger, {
    writer: unwritable,
    looksAtPods: true,
    emit: (event) => {
      if (event.kind === 'dropped') this.dropped.begin(event.holder);
      if (event.kind === 'looked' && this.#holder) this.policy.hold(this.#holder, this.#holder);
    },
  });
  /** To every look. Undefined: each is answered by hand. */
  answer: PodReading | undefined;
  count = 0;
  readonly looks: ((shown?: readonly ShownPod[]) => Promise<void>)[] = [];
  readonly dropped = this.#watch(this.policy);
  #holder: PoolNodeHolder | undefined;

  constructor() {
    const pool = readCiliumPodIpPool({
      metadata: { name: 'default', uid: 'pool', resourceVersion: '1' },
      spec: { ipv4: { cidrs: ['10.0.0.0/24'], maskSize: 27 } },
    });
    this.policy.changePools([['default', pool]]);
  }

  #watch(policy: PoolPolicy): PodLooks {
    const pods = {
      on: () => {
        this.count++;
        if (this.answer !== undefined) return Promise.resolve(this.answer);
        const { promise, resolve } = Promise.withResolvers<PodReading>();
        this.looks.push(async (shown = []) => {
          resolve({ kind: 'read', shown });
          await this.clock.advance(0);
        });
        return promise;
      },
    };
    const ports = { clock: this.clock, random: new Random('looks'), onBug: rethrow };
    return new PodLooks(ports, pods, policy);
  }

  show(holder: PoolNodeHolder): void {
    this.policy.hold(holder, this.#holder);
    this.#holder = holder;
  }

  /** What the node would list by the next write. */
  reserve(): readonly string[] {
    return this.#holder === undefined ? [] : (this.policy.reserve(this.#holder)?.blocks ?? []);
  }

  cancel(): void {
    if (this.#holder !== undefined) this.policy.cancel(this.#holder);
  }

  get holds(): readonly number[] {
    return this.ledger.heldBy(uid).map(({ base }) => Number(base & 0xffn));
  }
}

test('a look decides about what was dropped before it began, and another one about the rest', async () => {
  const scene = new Scene();
  scene.show(listing(1, [a, b, c], 80));
  scene.show(listing(2, [a, b], 50));
  scene.show(listing(3, [a], 20));

  await scene.looks[0]?.();
  expect(scene.holds).toEqual([0, 32]);

  await scene.looks[1]?.([{ address: '10.0.0.40', pod: 'default/web' }]);
  expect(scene.holds).toEqual([0, 32]);
  expect(scene.looks).toHaveLength(2);
});

test('however often an agent drops blocks, there is one next look at its node while a pod keeps one', async () => {
  const scene = new Scene();
  scene.answer = { kind: 'read', shown: [{ address: '10.0.0.40', pod: 'default/web' }] };
  scene.show(listing(1, [a, b], 50));
  for (let version = 2; version < 40; version += 2) {
    scene.show(listing(version, [a, c], 50));
    scene.show(listing(version + 1, [a], 20));
    await scene.clock.advance(400_000);
  }
  expect(scene.holds).toEqual([0, 32]);
  const before = scene.count;

  await scene.clock.advance(3_600_000);

  expect(scene.count - before).toBeGreaterThan(8);
  expect(scene.count - before).toBeLessThan(25);
});

describe('a block that a write offers again while the pods of its node are looked at', () => {
  /** Its agent drops the second block, then asks for as much as before, and a write offers it again. */
  function offering(): Scene {
    const scene = new Scene();
    scene.show(listing(1, [a, b], 50));
    scene.show(listing(2, [a], 20));
    scene.show(listing(3, [a], 50));
    expect(scene.reserve()).toEqual([a, b]);
    return scene;
  }

  test('stays while the write is under way, whatever the look shows', async () => {
    const scene = offering();

    await scene.looks[0]?.();
    await scene.clock.advance(15_000);
    await scene.looks[1]?.();

    expect(scene.holds).toEqual([0, 32]);
  });

  test('stays when a look ends after the write that began before: pods may use it by then', async () => {
    const scene = offering();
    await scene.looks[0]?.();
    await scene.clock.advance(15_000);
    scene.show(listing(5, [a], 20));

    await scene.looks[1]?.();

    expect(scene.looks).toHaveLength(2);
    expect(scene.holds).toEqual([0, 32]);
  });

  test.each<[string, (scene: Scene) => void]>([
    ['met another state', (scene) => scene.show(listing(5, [a], 20))],
    ['was refused', (scene) => scene.cancel()],
  ])('goes by the next look after the write %s', async (_, end) => {
    const scene = offering();
    await scene.looks[0]?.();

    end(scene);
    await scene.clock.advance(15_000);
    expect(scene.holds).toEqual([0, 32]);
    await scene.looks[1]?.();

    expect(scene.holds).toEqual([0]);
  });

  test('keeps no other block from its pool', async () => {
    const scene = new Scene();
    scene.show(listing(1, [a, b, c], 80));
    scene.show(listing(2, [a], 20));
    scene.show(listing(3, [a], 50));
    expect(scene.reserve()).toEqual([a, b]);
    scene.show(listing(4, [a], 50));
    await scene.looks[0]?.();
    expect(scene.reserve()).toEqual([a, b]);

    await scene.clock.advance(15_000);
    await scene.looks[1]?.();

    expect(scene.holds).toEqual([0, 32]);
  });
});

test('a block that its agent listed waits for a look, although the list could not be read whole', async () => {
  const scene = new Scene();
  scene.show(listing(1, [a], 50));
  expect(scene.reserve()).toEqual([a, b]);
  scene.show(listing(2, [a, b, 7], 50));

  scene.show(listing(3, [a], 20));
  expect(scene.holds).toEqual([0, 32]);

  await scene.looks[0]?.();
  expect(scene.holds).toEqual([0]);
});
