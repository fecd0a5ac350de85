// A cluster with running agents, one of which writes anything it likes into CiliumNodes. The tests check that the other
// nodes lose nothing, wait for nothing and get no warning.
import { invariantViolations } from '../../src/simulator/cluster/invariants.ts';
import type { JsonObject } from '../../src/simulator/workload/json.ts';
import type { NodeFacts, Protocol } from '../../src/simulator/workload/node-facts.ts';
import { BusyWorld } from './busy-world.ts';
import { fastReleaseFlags } from './fast-release-flags.ts';
import { instance, testCloud } from './test-cloud.ts';
import {
  type CloudCall,
  type ControllerSetup,
  startController,
  type WorldController,
} from './world-controller.ts';

export interface AttackedOptions {
  /** One protocol for all victims, or each in turn. */
  readonly protocol?: Protocol | 'both';
  /** Machines without a node, which no controller may touch. */
  readonly strangers?: number;
  /** No cloud controller manager runs. */
  readonly withoutProviderIds?: boolean;
  readonly flags?: Readonly<Record<string, string>>;
}

const victims = 3;

export class AttackedWorld {
  readonly world: BusyWorld;
  readonly #strangers: readonly NodeFacts[];
  readonly #controllers: WorldController[];
  readonly #flags: Readonly<Record<string, string>>;

  constructor(world: BusyWorld, strangers: readonly NodeFacts[], flags: AttackedOptions['flags'] = {}) {
    this.world = world;
    this.#strangers = strangers;
    this.#controllers = [world.controller];
    this.#flags = { ...fastReleaseFlags, ...flags };
  }

  /** Three nodes with pods; the first has two addresses too many. */
  static async start({
    protocol = 'crd-allocator',
    strangers = 1,
    withoutProviderIds: withoutProviderId = false,
    flags,
  }: AttackedOptions = {}): Promise<AttackedWorld> {
    const held = [{ deviceIndex: 1, addresses: 5 }];
    const world = new BusyWorld({
      setup: { flags: { ...fastReleaseFlags, ...flags } },
      cloud: testCloud({
        instances: [
          instance({ type: 'm5.xlarge', count: victims }),
          instance({ name: 'stranger', type: 'm5.xlarge', count: strangers, interfaces: held }),
        ],
      }),
      configure: (index) => ({
        protocol: protocol === 'both' ? (index % 2 === 0 ? 'crd-allocator' : 'multi-pool') : protocol,
        ipam: { preAllocate: 4 },
        withoutProviderId,
      }),
    });
    const own = world.machines.slice(0, victims);
    for (const machine of own) void world.cluster.workload.addNode(machine);
    await world.advance(60_000);
    for (const { name } of own)
      for (let index = 0; index < 6; index++)
        void world.cluster.workload.createPod({ name: `${name}-pod-${index}`, nodeName: name });
    await world.advance(60_000);
    return new AttackedWorld(world, world.machines.slice(victims), flags);
  }

  get victims(): readonly NodeFacts[] {
    return this.world.machines.slice(0, victims);
  }

  victim(index = 0): NodeFacts {
    return this.world.machine(index);
  }

  /** An instance of the account that is no node of this cluster. */
  get stranger(): NodeFacts {
    return this.#strangers[0] ?? this.world.machine(victims);
  }

  /** Writes a CiliumNode with that name: a copy of the victim's, with a patch. */
  async write(name: string, like: NodeFacts, spec: JsonObject, status: JsonObject = {}): Promise<void> {
    await this.world.announceAlone({ ...like, name }, { spec });
    if (Object.keys(status).length > 0) await this.world.patchStatus({ name }, status);
  }

  /** Another process takes over from a killed one. */
  changeLeader(): Promise<void> {
    return this.restart(() => Promise.resolve());
  }

  /** Another process leads before any controller knows of the write. `tamper`: as for a controller. */
  async restart(during: () => Promise<void>, tamper?: ControllerSetup['tamper']): Promise<void> {
    this.world.controller.kill();
    await during();
    const identity = `headwater-${this.#controllers.length}`;
    const setup = { identity, flags: this.#flags, ...(tamper !== undefined && { tamper }) };
    this.world.controller = startController(this.world, setup);
    this.#controllers.push(this.world.controller);
    await this.world.advance(30_000);
  }

  /** Calls of any controller that take something away. */
  get removals(): readonly CloudCall[] {
    return this.#controllers.flatMap(({ removals }) => removals);
  }

  /** What the victims, except the liar among them, have lost and wait for, and what is reported to them. */
  harm(liar?: NodeFacts): readonly string[] {
    const victims = this.victims.filter(({ name }) => name !== liar?.name);
    const names = new Set(victims.map(({ name }) => name));
    const { world } = this;
    // The attacker may offer an address twice in its own pool; the other node keeps the address.
    const violations = invariantViolations(world.cluster)
      .filter(({ what, node }) => names.has(node) && what !== 'address-offered-twice')
      .map(({ text }) => text);
    const waiting = world.views
      .filter(({ nodeName }) => names.has(nodeName))
      .flatMap(({ pendingPods }) => [...pendingPods.keys()].map((pod) => `${pod} waits`));
    const reported = victims.flatMap((machine) => [
      ...(world.operatorError(machine) === '' ? [] : [`${machine.name}: ${world.operatorError(machine)}`]),
      ...world.events(machine.name).map((event) => `${machine.name}: ${event}`),
    ]);
    return [...violations, ...waiting, ...reported, ...world.bugs.map(String)];
  }

  /** Adds pods to each victim, which get their addresses. */
  async grow(pods = 5): Promise<void> {
    const { workload } = this.world.cluster;
    const generation = this.world.clock.monotonic();
    for (const { name } of this.victims)
      for (let index = 0; index < pods; index++)
        void workload.createPod({ name: `${name}-more-${generation}-${index}`, nodeName: name });
    await this.world.advance(20_000);
  }
}
