// When the pods of a node are looked at whose agent dropped blocks, and about which of them a look decides.
import { expect, test } from '@jest/globals';
import { BlockLedger } from '../../../../src/cidr/allocation/block-ledger.ts';
import { DroppedBlocks, type DroppedHoldings } from '../../../../src/cidr/multi-pool/dropped-blocks.ts';
import { PoolAllotment } from '../../../../src/cidr/multi-pool/pool-allotment.ts';
import { type PoolNodeHolder, poolNodeHolder } from '../../../../src/cidr/multi-pool/pool-node-holder.ts';
import { readCiliumPodIpPool } from '../../../../src/kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { PodReading, ShownPod } from '../../../../src/kubernetes/watch/shown-pods.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const uid = 'uid-one';
const [a, b, c] = ['10.0.0.0/27', '10.0.0.32/27', '10.0.0.64/27'];

/** The node as it stands in the state `version`. */
function listing(version: number, cidrs: readonly string[], needed: number): PoolNodeHolder {
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

/** A pool, one node of it, and looks at its pods that are answered by hand. */
class Scene {
  readonly clock = new VirtualClock();
  readonly ledger = new BlockLedger([]);
  readonly allotment = new PoolAllotment(this.ledger, {
    onDrop: (holder) => this.dropped.noteDrop(holder.name, holder.uid),
  });
  readonly looks: ((shown?: readonly ShownPod[]) => Promise<void>)[] = [];
  readonly dropped = this.#watch(this.allotment);
  #holder: PoolNodeHolder | undefined;

  constructor() {
    const pool = readCiliumPodIpPool({
      metadata: { name: 'default', uid: 'pool', resourceVersion: '1' },
      spec: { ipv4: { cidrs: ['10.0.0.0/24'], maskSize: 27 } },
    });
    this.allotment.changePools([['default', pool]]);
  }

  #watch(holdings: DroppedHoldings): DroppedBlocks {
    return new DroppedBlocks({
      pods: {
        on: () => {
          const { promise, resolve } = Promise.withResolvers<PodReading>();
          this.looks.push(async (shown = []) => {
            resolve({ kind: 'read', shown });
            await this.clock.advance(0);
          });
          return promise;
        },
      },
      holdings,
      reassess: () => this.#holder && this.allotment.take(this.#holder, this.#holder),
      clock: this.clock,
      random: new Random('looks'),
      onBug: (error) => {
        throw error;
      },
    });
  }

  show(holder: PoolNodeHolder): void {
    this.allotment.take(holder, this.#holder);
    this.#holder = holder;
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
