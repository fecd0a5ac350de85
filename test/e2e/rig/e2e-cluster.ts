// A whole cluster for a test: a real API server, the EC2 model and the agents in this process, and controllers as
// processes under the service account and the roles of the chart.
import { Random } from '../../../src/runtime/random.ts';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { systemClock } from '../../../src/runtime/system-clock.ts';
import type { Topology } from '../../../src/simulator/cloud/topology.ts';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import { machinesOf } from '../../../src/simulator/cluster/embedded-cluster.ts';
import {
  detachedInterfaces,
  type NodeStanding,
  standings,
} from '../../../src/simulator/cluster/invariants.ts';
import type { Credential } from '../../../src/simulator/ec2/sigv4.ts';
import { createEc2, type Ec2 } from '../../../src/simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../../../src/simulator/ec2/ec2-server.ts';
import type { HttpFront } from '../../../src/simulator/http-front.ts';
import { WorkloadFleet } from '../../../src/simulator/workload/workload-fleet.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { newNode } from '../../../src/simulator/workload/node-objects.ts';
import { ciliumNodesPath, newOwnNode } from '../../../src/simulator/workload/own-node.ts';
import { accessToEc2, type CloudAccess } from '../../../rig/controller-process.ts';
import { ClusterInvariants } from './cluster-invariants.ts';
import { missDenied } from '../../support/missed-permissions.ts';
import { shippedPolicy } from '../../support/shipped-policy.ts';
import { E2eController } from './e2e-controller.ts';
import { e2eTopology, podSubnetTags, region } from './e2e-topology.ts';
import { type RealApi, startRealApi } from './real-api.ts';

export interface E2eClusterOptions {
  /** Mixed instance types in two zones, with the limits and the lag of EC2; `topology` replaces them. */
  readonly nodes: number;
  readonly topology?: Topology;
  /** Configuration of each machine's agent; without a protocol, the two alternate. */
  readonly configure?: (index: number) => Partial<NodeFacts>;
  /** Speed-up of agents and kubelets; 10 by default. */
  readonly pace?: number;
  /** Options of every controller, besides `usualFlags`. */
  readonly flags?: readonly string[];
  /** Options of the API server. */
  readonly apiFlags?: readonly string[];
  /** An API server without any roles, even those of the chart. */
  readonly withoutRoles?: boolean;
  /** This many machines, the last ones, are no nodes at first. */
  readonly spare?: number;
  /** Between two checks of all nodes, in ms; 50 by default, and 500 for the invariants. For large clusters. */
  readonly lookInterval?: number;
  /** No CiliumNodes and no agents until `workload.start` is called. */
  readonly withoutAgents?: boolean;
}

export interface ControllerWish {
  readonly name?: string;
  readonly flags?: readonly string[];
  /** The one of `usualServiceAccount` by default. */
  readonly kubeconfig?: string;
}

export const usualServiceAccount = 'headwater';

/** Options that fit agents 10 times faster and let a test end soon; leader election keeps its defaults. */
export const usualFlags: readonly string[] = [
  '--cluster-name=e2e',
  '--aws-release-excess-ips=true',
  '--excess-ip-release-delay=3',
  '--release-quarantine=7500ms',
  '--cloud-call-timeout=8s',
  '--consistency-window=4s',
];

/** Time limit of a wait, in ms: it ends hung tests and measures nothing. */
const patience = 60_000;
const usualLookInterval = 50;

export class E2eCluster {
  readonly clock: Clock = systemClock;
  readonly api: RealApi;
  readonly ec2: Ec2;
  readonly workload: WorkloadFleet;
  readonly invariants: ClusterInvariants;
  /** Every instance of the topology, as the machine of a node. */
  readonly machines: readonly NodeFacts[];
  /** Aborted when the cluster is stopped. */
  readonly signal: AbortSignal;
  readonly controllers: E2eController[] = [];
  /** Permissions of the shipped policy that controllers have needed so far. */
  readonly usedActions: ReadonlySet<string>;
  /** Between two checks of all nodes, in ms. */
  readonly lookInterval: number;
  readonly #ec2Server: HttpFront;
  readonly #flags: readonly string[];
  readonly #ending: AbortController;

  private constructor({ api, ec2, ec2Server, usedActions }: Parts, options: E2eClusterOptions) {
    const { configure, pace = 10, flags = [], spare = 0, lookInterval = usualLookInterval } = options;
    this.api = api;
    this.ec2 = ec2;
    this.usedActions = usedActions;
    this.#ec2Server = ec2Server;
    this.lookInterval = lookInterval;
    this.#flags = [...usualFlags, ...flags];
    this.#ending = new AbortController();
    this.signal = this.#ending.signal;
    this.machines = machinesOf(ec2.network).map((facts, index) => ({
      ...facts,
      protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool',
      eni: { subnetTags: podSubnetTags },
      ...configure?.(index),
    }));
    this.workload = new WorkloadFleet({
      handler: api.handler,
      clock: this.clock,
      random: new Random('e2e-workload'),
      nodes: this.machines.slice(0, this.machines.length - spare),
      pace,
    });
    this.invariants = new ClusterInvariants({
      network: ec2.network,
      workload: this.workload,
      listNodes: () => this.ciliumNodes(),
      clock: this.clock,
      ...(options.lookInterval !== undefined && { interval: options.lookInterval }),
    });
  }

  /** Resolves once the agents run. Always stop it. */
  static async start(options: E2eClusterOptions): Promise<E2eCluster> {
    const random = new Random('e2e');
    const topology = options.topology ?? e2eTopology(options);
    const ec2 = createEc2({ topology, clock: systemClock, random });
    // Controllers may do only what the shipped policy allows.
    const { gateway } = ec2;
    for (const credential of gateway.credentials)
      gateway.policies.set(gateway.arnOf(credential), shippedPolicy);
    const usedActions = new Set<string>();
    gateway.onChecked = (permission, isAllowed) => {
      usedActions.add(permission.action);
      missDenied(permission, isAllowed);
    };
    const ec2Server = await startEc2Server({ gateway, clock: systemClock, port: 0 });
    const api = await startRealApi({
      clock: systemClock,
      ...(options.apiFlags !== undefined && { flags: options.apiFlags }),
      ...(options.withoutRoles !== undefined && { withoutRoles: options.withoutRoles }),
    }).catch(async (error: unknown) => {
      await ec2Server.close();
      throw error;
    });
    const cluster = new E2eCluster({ api, ec2, ec2Server, usedActions }, options);
    cluster.invariants.watch(cluster.signal).catch(() => undefined);
    if (options.withoutAgents !== true) await cluster.workload.start();
    return cluster;
  }

  /** The way to EC2 of a user of it. Several take turns. */
  cloudAccess(): { readonly cloud: CloudAccess; readonly user: string } {
    const { accessKeyId, secretAccessKey, user } = this.#nextCredential();
    const credentials = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
    return { cloud: accessToEc2({ url: this.#ec2Server.url, credentials }, region), user };
  }

  /** Resolves once the process serves health, metrics and status. */
  async startController({ name, flags = [], kubeconfig }: ControllerWish = {}): Promise<E2eController> {
    const { cloud, user } = this.cloudAccess();
    const controller = await E2eController.start({
      ...(name !== undefined && { name }),
      kubeconfig: kubeconfig ?? (await this.api.kubeconfigFor(usualServiceAccount)),
      cloud,
      flags: [...this.#flags, ...flags],
      user,
    });
    this.controllers.push(controller);
    if (this.signal.aborted) await controller.process.child.kill();
    this.signal.throwIfAborted();
    return controller;
  }

  /** The same, and it is ready. */
  async startReadyController(wish: ControllerWish = {}): Promise<E2eController> {
    const controller = await this.startController(wish);
    await controller.process.ready(this.clock, this.signal);
    return controller;
  }

  /** Waits until `isSo`; rejects after `limit` ms with the text of `explain`. */
  async until(
    what: string,
    isSo: () => boolean | Promise<boolean>,
    { limit = patience, every = usualLookInterval, explain = () => this.#lastWords() }: Patience = {},
  ): Promise<void> {
    const end = this.clock.monotonic() + limit;
    while (!(await isSo())) {
      if (this.clock.monotonic() >= end) {
        throw new Error(`within ${limit / 1000} s it did not come about that ${what}\n${explain()}`);
      }
      await sleep(this.clock, every, this.signal);
    }
  }

  machine(index = 0): NodeFacts {
    const machine = this.machines[index];
    if (machine === undefined) throw new RangeError(`there is no machine ${index}`);
    return machine;
  }

  /** Every agent serves, every pod has its address, and the cloud holds what every watermark asks for. */
  isSupplied(): boolean {
    const views = this.workload.views;
    return (
      views.every(({ phase, pendingPods }) => phase === 'serving' && pendingPods.size === 0) &&
      this.standings().every(({ met }) => met)
    );
  }

  untilSupplied(limit = patience): Promise<void> {
    return this.until('every node has what its watermarks ask for', () => this.isSupplied(), {
      limit,
      // This asks no server.
      every: Math.min(this.lookInterval, 1000),
    });
  }

  standings(): readonly NodeStanding[] {
    return standings({ network: this.ec2.network, workload: this.workload });
  }

  /** Orphaned interfaces of the cluster. */
  orphaned(): readonly NetworkInterface[] {
    return detachedInterfaces(this.ec2).filter(({ tags }) => tags['io.cilium/cilium-managed'] === 'true');
  }

  async ciliumNodes(): Promise<readonly JsonObject[]> {
    return listAt(await this.api.call('GET', ciliumNodesPath), 'items').filter(isObject);
  }

  /** Creates the Node of a machine, as its kubelet and the cloud's controller do, unless it exists. */
  async register(facts: NodeFacts): Promise<void> {
    const { items } = await this.api.call('GET', '/api/v1/nodes');
    const isThere = (node: Json): boolean => textAt(node, 'metadata', 'name') === facts.name;
    if (!(Array.isArray(items) && items.some(isThere)))
      await this.api.call('POST', '/api/v1/nodes', newNode(facts));
  }

  /** Creates the CiliumNode of a machine, as its agent does; no agent runs. Deletes an earlier one with that name. */
  async announce(facts: NodeFacts, change: (node: JsonObject) => JsonObject = (node) => node): Promise<void> {
    await this.api.call('DELETE', `${ciliumNodesPath}/${facts.name}`).catch(() => undefined);
    await this.api.call('POST', ciliumNodesPath, change(newOwnNode(facts, `uid-of-${facts.name}`)));
  }

  ciliumNode(name: string): Promise<JsonObject> {
    return this.api.call('GET', `${ciliumNodesPath}/${name}`);
  }

  /** Addresses that a CiliumNode offers. */
  async pool(name: string): Promise<readonly string[]> {
    return Object.keys(objectAt(await this.ciliumNode(name), 'spec', 'ipam', 'pool'));
  }

  async operatorError(name: string): Promise<string> {
    return textAt(await this.ciliumNode(name), 'status', 'ipam', 'operator-status', 'error');
  }

  /** Stops everything. The objects of the API server are gone with it. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error('the cluster is stopped'));
    await this.workload.stop();
    await Promise.all(this.controllers.map(({ process }) => process.child.kill()));
    await this.api.stop();
    await this.#ec2Server.close();
    // EC2 forgets a terminated instance after an hour.
    this.ec2.clock.stop();
  }

  #nextCredential(): Credential {
    const { credentials } = this.ec2.gateway;
    const credential = credentials[this.controllers.length % credentials.length];
    if (credential === undefined) throw new RangeError('nobody may call EC2');
    return credential;
  }

  #lastWords(): string {
    const unmet = this.standings().filter(({ met }) => !met);
    const reported = this.controllers.map((controller) =>
      controller.lines
        .slice(-15)
        .map(({ text }) => text)
        .join('\n'),
    );
    return [`not met: ${JSON.stringify(unmet)}`, ...this.invariants.violations, ...reported].join('\n');
  }
}

interface Parts {
  readonly api: RealApi;
  readonly ec2: Ec2;
  readonly ec2Server: HttpFront;
  readonly usedActions: ReadonlySet<string>;
}

interface Patience {
  readonly limit?: number;
  /** Between two checks, in ms, if a check is expensive. */
  readonly every?: number;
  readonly explain?: () => string;
}
