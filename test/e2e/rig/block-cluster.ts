// A real API server, and controllers that give blocks to nodes, as processes under the roles of the chart. No machine runs:
// objects are created and read as administrators and agents do.
import { RigChild } from '../../../rig/child-process.ts';
import { ControllerChild } from '../../../rig/controller-child.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import { isObject, type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { type RealApi, startRealApi } from './real-api.ts';
import { createRoles, createServiceAccount } from './service-accounts.ts';
import { type RoleRule, type RoleScope, shippedRoles } from './shipped-roles.ts';

export interface BlockClusterOptions {
  readonly scope: Exclude<RoleScope, 'agent' | 'agent-taint' | 'eni'>;
  /** Options of every controller. */
  readonly flags: readonly string[];
  /** Options of the API server. */
  readonly apiFlags?: readonly string[];
  /** The role of what is done beside. */
  readonly also?: 'agent-taint';
  /** Names of the Leases of all releases; by default that of one. */
  readonly leases?: readonly string[];
}

const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';
const nodes = '/api/v1/nodes';
const paths = {
  'cluster-pool': ciliumNodes,
  'multi-pool': ciliumNodes,
  nodeipam: nodes,
  'nodeipam-cloud': nodes,
} as const;
const poolsPath = '/apis/cilium.io/v2alpha1/ciliumpodippools';
const account = 'headwater';
/** Time limit of a wait, in ms: it ends hung tests and measures nothing. */
const patience = 120_000;
/** Requests of this test at once. */
const width = 24;

export class BlockCluster {
  readonly api: RealApi;
  readonly path: string;
  readonly controllers: ControllerChild[] = [];
  readonly #options: BlockClusterOptions;
  readonly #ending = new AbortController();
  #access: Promise<string> | undefined;

  private constructor(api: RealApi, options: BlockClusterOptions) {
    this.api = api;
    this.path = paths[options.scope];
    this.#options = options;
  }

  static async start(options: BlockClusterOptions): Promise<BlockCluster> {
    const { scope, also, apiFlags = [], leases } = options;
    const api = await startRealApi({ clock: systemClock, flags: apiFlags, withoutRoles: true });
    const more = also === undefined ? [] : (await shippedRoles(also)).flatMap(({ rules }) => rules);
    // As the chart does: in one role.
    const roles = (await shippedRoles(scope)).map((role) =>
      role.kind === 'ClusterRole'
        ? { ...role, rules: [...role.rules, ...more] }
        : { ...role, rules: role.rules.map((rule) => ofLeases(rule, leases)) },
    );
    await createRoles(api.call, roles);
    await createServiceAccount(api.call, account, roles);
    return new BlockCluster(api, options);
  }

  /** Resolves once it serves health, metrics and status. */
  async startController(
    flags: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ControllerChild> {
    const { scope } = this.#options;
    const controller = await ControllerChild.start({
      environment,
      args: [
        ...(this.path === nodes ? ['nodeipam'] : ['run', `--ipam=${scope}`]),
        `--k8s-kubeconfig-path=${await this.#kubeconfig()}`,
        '--serve-addr=127.0.0.1:0',
        ...this.#options.flags,
        ...flags,
      ],
    });
    this.controllers.push(controller);
    return controller;
  }

  /** A kubeconfig for all, so that a controller can start while the API server is away. */
  #kubeconfig(): Promise<string> {
    this.#access ??= this.api.kubeconfigOf(account);
    return this.#access;
  }

  /** Starts Kubernetes' own node-ipam-controller, as an administrator. Resolves once it works. */
  async startPeer(flags: readonly string[]): Promise<RigChild> {
    const command = process.env['HEADWATER_NODE_IPAM_CONTROLLER'];
    if (command === undefined)
      throw new Error('no node-ipam-controller: run these tests by npm run test:e2e');
    const kubeconfig = await this.api.kubeconfigOfAdmin();
    const args = [`--kubeconfig=${kubeconfig}`, ...flags];
    const peer = new RigChild({ name: 'node-ipam-controller', command, args, bound: true });
    await peer.waitForLine((line) => (line === 'started' ? line : undefined));
    return peer;
  }

  /** Creates an object that holds blocks, with none or these; resolves to it. */
  async create(name: string, podCIDRs: readonly string[] = []): Promise<JsonObject> {
    const isNode = this.path === nodes;
    const given = podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0] ?? '', podCIDRs };
    const object: JsonObject = isNode
      ? { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: given }
      : {
          apiVersion: 'cilium.io/v2',
          kind: 'CiliumNode',
          metadata: { name },
          spec: { ipam: podCIDRs.length === 0 ? {} : { podCIDRs } },
        };
    return this.api.call('POST', this.path, object);
  }

  /** As a machine that registers itself: again, until the API server has it. */
  async join(name: string): Promise<void> {
    for (;;) {
      const answer = await this.create(name).then(() => 'created', String);
      if (answer === 'created' || answer.includes('already exists')) return;
      await sleep(systemClock, 200, this.#ending.signal);
    }
  }

  /** As above without blocks; its Node, which owns it where it is none itself, has these labels. */
  async createLabelled(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
    const { metadata } = await this.api.call('POST', nodes, node);
    if (this.path === nodes) return;
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: textAt(metadata, 'uid') };
    await this.api.call('POST', this.path, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name, ownerReferences: [owner] },
      spec: { ipam: {} },
    });
  }

  /** Creates a pool, or gives it these networks. */
  async setPool(name: string, maskSize: number, cidrs: readonly string[]): Promise<void> {
    const spec = { ipv4: { cidrs, maskSize } };
    const known = await this.api.call('GET', `${poolsPath}/${name}`).catch(() => undefined);
    if (known !== undefined) await this.api.call('PATCH', `${poolsPath}/${name}`, { spec });
    else
      await this.api.call('POST', poolsPath, {
        apiVersion: 'cilium.io/v2alpha1',
        kind: 'CiliumPodIPPool',
        metadata: { name },
        spec,
      });
  }

  /** Creates a CiliumNode whose agent asks each of these pools for so many addresses. */
  async ask(name: string, asked: Readonly<Record<string, number>>): Promise<void> {
    const requested = Object.entries(asked).map(([pool, count]) => ({
      pool,
      needed: { 'ipv4-addrs': count },
    }));
    await this.api.call('POST', this.path, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name },
      spec: { ipam: { pools: { requested } } },
    });
  }

  async delete(name: string): Promise<void> {
    await this.api.call('DELETE', `${this.path}/${name}`);
  }

  /** Several at once. */
  async each(names: readonly string[], act: (name: string) => Promise<unknown>): Promise<void> {
    const left = names.values();
    const work = async (): Promise<void> => {
      for (const name of left) await act(name);
    };
    await Promise.all(Array.from({ length: width }, work));
  }

  /** The blocks of each object, by name. */
  async blocks(): Promise<ReadonlyMap<string, readonly string[]>> {
    const objects = listAt(await this.api.call('GET', this.path), 'items').filter(isObject);
    if (this.#options.scope === 'multi-pool')
      return new Map(objects.map((object) => [textAt(object, 'metadata', 'name'), poolBlocksOf(object)]));
    const place = this.path === nodes ? ['spec', 'podCIDRs'] : ['spec', 'ipam', 'podCIDRs'];
    return new Map(objects.map((object) => [textAt(object, 'metadata', 'name'), textsAt(object, ...place)]));
  }

  /** Resolves to the blocks once every object has some. */
  async served(count: number): Promise<ReadonlyMap<string, readonly string[]>> {
    let blocks: ReadonlyMap<string, readonly string[]> = new Map();
    await this.until(`${count} objects have blocks`, async () => {
      blocks = await this.blocks();
      return blocks.size === count && [...blocks.values()].every((each) => each.length > 0);
    });
    return blocks;
  }

  async until(what: string, isSo: () => Promise<boolean>, every = 200): Promise<void> {
    const end = systemClock.monotonic() + patience;
    while (!(await isSo())) {
      if (systemClock.monotonic() >= end) {
        const said = this.controllers.flatMap(({ lines }) => lines.slice(-10)).join('\n');
        throw new Error(`it did not come about that ${what}\n${said}`);
      }
      await sleep(systemClock, every, this.#ending.signal);
    }
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.controllers.map((controller) => controller.kill()));
    await this.api.stop();
  }
}

function ofLeases(rule: RoleRule, leases: readonly string[] | undefined): RoleRule {
  return rule.resourceNames === undefined || leases === undefined ? rule : { ...rule, resourceNames: leases };
}

/** Each as pool and CIDR. */
function poolBlocksOf(object: JsonObject): readonly string[] {
  return listAt(object, 'spec', 'ipam', 'pools', 'allocated').flatMap((entry) =>
    textsAt(entry, 'cidrs').map((cidr) => `${textAt(entry, 'pool')} ${cidr}`),
  );
}
