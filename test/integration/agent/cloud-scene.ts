// A node with the agent, and the controller of a cloud, in virtual time. Both are judged by the addresses that pods have
// and that the model of the cloud has assigned, never by the claims of the other.
import { InProcessTransport } from '../../support/in-process-transport.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { IpamWatermarks, NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { isInside } from '../../simulation/agent/supplier.ts';
import { AlibabaWorld } from '../../support/alibaba-world.ts';
import { AzureClusterWorld } from '../../support/azure-cluster-world.ts';
import type { ClusterWorld, ClusterWorldOptions } from '../../support/cluster-world.ts';
import { fastReleaseFlags } from '../../support/fast-release-flags.ts';
import { ids, instance, subnets, testBlock, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, takeOver, type WorldController } from '../../support/world-controller.ts';
import { callPlugin, type PluginAnswer } from './plugin-call.ts';

export type SceneCloud = 'eni' | 'azure' | 'alibabacloud';

interface CloudParts {
  readonly world: (options: ClusterWorldOptions) => ClusterWorld;
  readonly flags: Readonly<Record<string, string>>;
  /** The part of a CiliumNode's spec that its Node does not tell. */
  readonly spec: (node: NodeFacts) => JsonObject;
  /** How long it may take until a node has what it asks for, and until it has given back what it does not, in ms. */
  readonly growth: number;
  readonly shrinkage: number;
}

const clouds: Readonly<Record<SceneCloud, CloudParts>> = {
  eni: {
    world: (options) => new World({ ...options, cloud: testCloud({ instances: [instance()] }) }),
    flags: {},
    spec: ({ vpcId }) => ({ eni: { 'vpc-id': vpcId } }),
    growth: 60_000,
    shrinkage: 400_000,
  },
  azure: {
    world: (options) => new AzureClusterWorld(options),
    flags: { 'azure-release-excess-ips': 'true' },
    spec: () => ({}),
    growth: 150_000,
    shrinkage: 600_000,
  },
  alibabacloud: {
    world: (options) => new AlibabaWorld(options),
    flags: { 'alibaba-cloud-release-excess-ips': 'true' },
    spec: ({ vpcId }) => ({ 'alibaba-cloud': { 'vpc-id': vpcId } }),
    growth: 90_000,
    shrinkage: 500_000,
  },
};

/** A cloud whose subnets have IPv6 blocks. */
function dualStackCloud(): ReturnType<typeof testCloud> {
  return testCloud({
    vpcs: [{ name: 'main', id: ids.vpc, blocks: [testBlock], ipv6Block: '2600:1f14:abc:de00::/56' }],
    subnets: Object.values(subnets).map((subnet, index) => ({
      ...subnet,
      ipv6Block: `2600:1f14:abc:de0${index}::/64`,
    })),
    instances: [instance()],
  });
}

export interface SceneOptions {
  /** Default: `eni`. */
  readonly cloud?: SceneCloud;
  readonly protocol: 'used' | 'pools';
  readonly ipam?: IpamWatermarks;
  readonly flags?: Readonly<Record<string, string>>;
  /** Whether someone else creates the CiliumNode. Default: yes. */
  readonly isAnnounced?: boolean;
  /** Only with `eni`. */
  readonly ipv6?: boolean;
}

export class CloudScene {
  readonly world: ClusterWorld;
  readonly node: NodeFacts;
  readonly agent: AgentMachine;
  controller: WorldController;
  /** Addresses of pods, by container. */
  readonly pods = new Map<string, string>();
  /** All of their addresses, with the lengths of their networks. */
  readonly addresses = new Map<string, readonly string[]>();
  /** Pods without the address that they have, at any moment. */
  readonly broken = new Set<string>();
  /** How often the node had fewer addresses than before. */
  removals = 0;

  readonly #parts: CloudParts;
  readonly #isAnnounced: boolean;
  readonly #flags: Readonly<Record<string, string>>;
  /** Containers whose ADD is repeated until it succeeds. */
  readonly #wanted = new Set<string>();
  #controllers = 0;
  #lastAssigned = 0;

  constructor(options: SceneOptions) {
    const { cloud = 'eni', protocol, ipam = {}, flags = {}, isAnnounced = true, ipv6 = false } = options;
    this.#isAnnounced = isAnnounced;
    this.#parts = clouds[cloud];
    this.#flags = { ...fastReleaseFlags, 'resync-interval': '30s', ...this.#parts.flags };
    const ofNode = protocol === 'used' ? 'crd-allocator' : 'multi-pool';
    const configure = (): Partial<NodeFacts> => ({ protocol: ofNode, ipam });
    this.world = ipv6 ? new World({ configure, cloud: dualStackCloud() }) : this.#parts.world({ configure });
    const { clock, random, cluster } = this.world;
    this.node = this.world.machine();
    this.agent = new AgentMachine({
      clock,
      random: random.fork('agent'),
      flags: {
        ipam: cloud,
        'node-name': this.node.name,
        'cilium-node-protocol': protocol,
        ...(ipv6 && { 'enable-ipv6': 'true' }),
        ...(!isAnnounced && { 'cilium-node-spec': '/etc/spec.json' }),
      },
      nodeSpec: JSON.stringify(this.#parts.spec(this.node)),
      connect: (process) =>
        new InProcessTransport(
          (request, signal) =>
            process.isDead ? new Promise(() => undefined) : cluster.kubernetes.handle(request, signal),
          clock,
        ),
    });
    this.controller = startController(this.world, { flags: { ...this.#flags, ...flags } });
  }

  async setUp(): Promise<void> {
    if (this.#isAnnounced) await this.world.announce(this.node);
    else await this.world.register(this.node);
    this.agent.start();
    await this.grow();
  }

  /** Advances until the cloud has assigned all requested addresses. */
  grow(): Promise<void> {
    return this.advance(this.#parts.growth);
  }

  /** Advances until all excess addresses are released. */
  shrink(): Promise<void> {
    return this.advance(this.#parts.shrinkage);
  }

  /** Looks at every event of that time. */
  async advance(ms: number): Promise<void> {
    await this.world.clock.runUntil(() => {
      this.#look();
      return false;
    }, ms);
  }

  #look(): void {
    const blocks = [...this.world.held(this.node).map((each) => `${each}/32`), ...this.#prefixes];
    for (const [container, ip] of this.pods)
      if (!blocks.some((block) => isInside(block, ip))) this.broken.add(`${container} has ${ip}`);
    const all = [...this.pods.values()];
    if (new Set(all).size < all.length) this.broken.add(`one of ${all.join()} is of two pods`);
    if (this.assigned < this.#lastAssigned) this.removals++;
    this.#lastAssigned = this.assigned;
  }

  add(container: string): void {
    this.#wanted.add(container);
    void this.#call('ADD', container, '60s').then(({ ip, addresses }) => {
      this.addresses.set(container, addresses);
      if (ip !== undefined) this.pods.set(container, ip);
      else this.world.clock.schedule(1000, () => this.#addAgain(container));
    });
  }

  #addAgain(container: string): void {
    if (this.#wanted.has(container) && !this.pods.has(container)) this.add(container);
  }

  /** The address is not the pod's from before the DEL on. */
  async del(container: string): Promise<void> {
    this.#wanted.delete(container);
    this.pods.delete(container);
    await this.#call('DEL', container, '0s');
  }

  #call(verb: string, container: string, wait: string): Promise<PluginAnswer> {
    return callPlugin(this.agent, { verb, container, ipam: { wait } });
  }

  /** Takes a random step: a pod comes or goes, time passes, or agent or controller are replaced. */
  async churn(random: Random): Promise<void> {
    const container = `c${random.integer(16)}`;
    const steps = [
      () => (this.pods.has(container) ? this.del(container) : this.add(container)),
      () => (this.pods.has(container) ? this.del(container) : this.add(container)),
      () => this.advance(random.integer(60_000)),
      () => this.advance(random.integer(2000)),
      () => {
        this.agent.kill();
        this.agent.start();
      },
      () => {
        const identity = `headwater-${++this.#controllers}`;
        this.controller = takeOver(this.world, this.controller, { identity, flags: this.#flags });
      },
    ];
    await random.pick(steps)();
    await this.advance(1);
  }

  /** A container runtime deletes what it could not add; most pods go. */
  async settle(): Promise<void> {
    for (const container of names(16)) if (!this.pods.has(container)) this.add(container);
    await this.grow();
    this.#wanted.clear();
    // No ADD is on its way any longer.
    await this.advance(61_000);
    for (const container of names(16))
      if (!this.pods.has(container) || this.pods.size > 4) await this.del(container);
    await this.shrink();
  }

  get #prefixes(): readonly string[] {
    return this.world.interfaces(this.node).flatMap(({ prefixes }) => prefixes);
  }

  /** Addresses of the node in the cloud that pods may have. */
  get assigned(): number {
    return this.world.held(this.node).length + this.#prefixes.length * 16;
  }

  get problems(): readonly unknown[] {
    return [...this.broken, ...this.agent.bugs, ...this.agent.failedStarts, ...this.world.broken()];
  }
}

/** Names of containers. */
export function names(count: number, prefix = 'c'): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`);
}
