// Everything at once, at random: pods that come and go on small subnets, agents of both protocols that restart and
// are upgraded, controllers that are killed and take over, faults of EC2 and of Kubernetes, jumps of the wall clock.
import { expect, test } from '@jest/globals';
import { Random } from '../../../src/runtime/random.ts';
import { standings } from '../../../src/simulator/cluster/invariants.ts';
import { BusyWorld } from '../../support/busy-world.ts';
import { ids, instance, subnets, testCloud } from '../../support/test-cloud.ts';
import type { WorldController } from '../../support/world-controller.ts';
import { fastReleaseFlags as flags } from '../../support/fast-release-flags.ts';

const changing = [
  'CreateNetworkInterface',
  'AttachNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
  'AssignPrivateIpAddresses',
  'UnassignPrivateIpAddresses',
  'DetachNetworkInterface',
  'DeleteNetworkInterface',
];
const codes = [
  'InternalError',
  'IncorrectState',
  'InvalidNetworkInterfaceID.NotFound',
  'AttachmentLimitExceeded',
];

class Storm {
  readonly world: BusyWorld;
  readonly controllers: WorldController[];
  /** All violations so far. */
  readonly wrong = new Set<unknown>();
  readonly #random: Random;
  #count = 0;

  constructor(world: BusyWorld, seed: string) {
    this.world = world;
    this.controllers = [world.controller];
    this.#random = new Random(seed);
  }

  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await this.world.advance(Math.min(left, 1_000));
      for (const each of this.world.broken()) this.wrong.add(each);
    }
  }

  async rage(minutes: number): Promise<void> {
    const end = this.world.clock.monotonic() + minutes * 60_000;
    const deeds = [
      () => this.#pods(),
      () => this.#pods(),
      () => this.#agent(),
      () => this.#cloud(),
      () => this.#cloud(),
      () => this.#kubernetes(),
      () => this.#takeOver(),
      () => this.world.clock.shiftWall((this.#random.next() - 0.5) * 3_600_000),
    ];
    while (this.world.clock.monotonic() < end) {
      this.#random.pick(deeds)();
      await this.advance(this.#random.integer(20_000));
    }
  }

  /** The leader may have lost its Lease when a clock was set: start another one. */
  calm(): void {
    this.world.cluster.ec2.gateway.faults.clear();
    this.world.cluster.kubernetes.faults.clear();
    this.#takeOver();
  }

  #pods(): void {
    const { workload } = this.world.cluster;
    for (let index = 0; index < 10; index++) {
      const number = this.#count++;
      void workload.createPod({ name: `storm-${number}` });
      if (number >= 15) void workload.deletePod(`default/storm-${number - 15}`);
    }
  }

  #agent(): void {
    const { nodeName, protocol } = this.#random.pick(this.world.views);
    const next = this.#random.chance(0.3) ? 'multi-pool' : protocol;
    void this.world.cluster.workload.changeAgent(nodeName, next);
  }

  #cloud(): void {
    const action = this.#random.pick(changing);
    const count = 1 + this.#random.integer(4);
    const effect = this.#random.pick(['before', 'after', 'late'] as const);
    const code = this.#random.pick(codes);
    const fault = this.#random.pick([
      { kind: 'lost', effect, connection: 'hang', delayMs: this.#random.integer(20_000) },
      { kind: 'error', code, status: code === 'InternalError' ? 500 : 400, message: 'by the storm' },
      { kind: 'slow', ms: this.#random.integer(60_000) },
      { kind: 'throttle' },
      { kind: 'garbled', form: 'idsMissing' },
    ] as const);
    this.world.fault(action, fault, count);
  }

  #kubernetes(): void {
    const method = this.#random.pick(['PATCH', 'PUT']);
    const times = 1 + this.#random.integer(5);
    if (this.#random.chance(0.5))
      this.world.refuse(this.#random.pick([409, 500]), method, /ciliumnodes/, times);
    else {
      const kind = this.#random.pick(['dropBefore', 'dropAfter'] as const);
      this.world.kubernetesFault({ method, path: /ciliumnodes/, times, effect: { kind } });
    }
  }

  #takeOver(): void {
    this.controllers.push(this.world.takeOver({ flags, identity: `headwater-${this.controllers.length}` }));
  }
}

test.each(['gale', 'squall'])(
  'a storm loses, doubles and leaks nothing, and everything settles afterwards: %s',
  async (seed) => {
    const world = await BusyWorld.start({
      seed,
      pods: 9,
      setup: { flags },
      cloud: testCloud({
        reuse: 0.9,
        subnets: [subnets.nodes, { ...subnets.pods, block: '10.0.16.0/26' }],
        routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }],
        instances: [instance({ count: 3 })],
      }),
      configure: (index) => ({
        protocol: index === 0 ? 'crd-allocator' : 'multi-pool',
        ipam: { preAllocate: 3 },
        eni: { subnetIds: [ids.pods] },
      }),
    });
    const storm = new Storm(world, seed);

    await storm.rage(10);
    storm.calm();
    await storm.advance(15 * 60_000);
    const before = storm.controllers.map(({ changes, publications }) => changes.length + publications.length);
    await storm.advance(5 * 60_000);

    const after = storm.controllers.map(({ changes, publications }) => changes.length + publications.length);
    expect([...storm.wrong]).toEqual([]);
    expect(after).toEqual(before);
    expect(world.orphaned()).toEqual([]);
    expect(world.waiting()).toEqual([]);
    expect(standings(world.cluster).filter(({ met }) => !met)).toEqual([]);
  },
);
