// A cluster on Azure for a test: a real API server, the model of Azure and the agents in this process, and controllers as
// processes under the service account and the roles of the chart, with the role of docs/azure-role.json in Azure.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessToAzure } from '../../../rig/azure-access.ts';
import { azureTopology, configureAzureNode } from '../../../src/commands/demo/azure/azure-topology.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { startArmServer, type ArmServer } from '../../../src/simulator/arm/arm-server.ts';
import { createArm, type Arm } from '../../../src/simulator/arm/create-arm.ts';
import { machinesOf } from '../../../src/simulator/cluster/embedded-cluster.ts';
import { type NodeStanding, standings } from '../../../src/simulator/cluster/invariants.ts';
import { WorkloadFleet } from '../../../src/simulator/workload/fleet.ts';
import { isObject, listAt } from '../../../src/simulator/workload/json.ts';
import { ciliumNodesPath } from '../../../src/simulator/workload/own-node.ts';
import { ClusterInvariants } from './cluster-invariants.ts';
import { E2eController } from './e2e-controller.ts';
import { usualServiceAccount } from './e2e-cluster.ts';
import { type RealApi, startRealApi } from './real-api.ts';

/** Time limit of a wait, in ms: it ends hung tests and measures nothing. */
const patience = 90_000;
const lookInterval = 50;

export class AzureE2eCluster {
  readonly arm: Arm;
  readonly api: RealApi;
  readonly workload: WorkloadFleet;
  readonly invariants: ClusterInvariants;
  readonly controllers: E2eController[] = [];
  readonly #server: ArmServer;
  readonly #directory: string;
  readonly #topology: ReturnType<typeof azureTopology>;
  readonly #ending = new AbortController();

  private constructor(parts: {
    readonly arm: Arm;
    readonly api: RealApi;
    readonly server: ArmServer;
    readonly directory: string;
    readonly topology: ReturnType<typeof azureTopology>;
  }) {
    const { arm, api, server, directory, topology } = parts;
    this.arm = arm;
    this.api = api;
    this.#server = server;
    this.#directory = directory;
    this.#topology = topology;
    const { network } = arm.cloud;
    this.workload = new WorkloadFleet({
      handler: api.handler,
      clock,
      random: new Random('e2e-workload'),
      nodes: machinesOf(network, 'azure').map(configureAzureNode),
      pace: 10,
    });
    const listNodes = async () => listAt(await api.call('GET', ciliumNodesPath), 'items').filter(isObject);
    this.invariants = new ClusterInvariants({ network, workload: this.workload, listNodes, clock });
  }

  /** Resolves once the agents run. Always stop it. */
  static async start(nodes: number): Promise<AzureE2eCluster> {
    const topology = azureTopology(nodes, 'e2e');
    const arm = createArm({ topology, clock, random: new Random('e2e') });
    const server = await startArmServer({ gateway: arm.gateway });
    const directory = await mkdtemp(join(tmpdir(), 'azure-e2e-'));
    const api = await startRealApi({ clock }).catch(async (error: unknown) => {
      await server.close();
      throw error;
    });
    const cluster = new AzureE2eCluster({ arm, api, server, directory, topology });
    cluster.invariants.watch(cluster.signal).catch(() => undefined);
    await cluster.workload.start();
    return cluster;
  }

  /** Aborted when the cluster is stopped. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  async startReadyController(): Promise<E2eController> {
    const caFile = join(this.#directory, 'ca.pem');
    await writeFile(caFile, this.#server.ca);
    const controller = await E2eController.start({
      kubeconfig: await this.api.kubeconfigFor(usualServiceAccount),
      cloud: accessToAzure(this.#server, this.#topology, caFile),
      flags: ['--cluster-name=e2e', '--cloud-call-timeout=8s', '--consistency-window=4s'],
      user: 'headwater',
    });
    this.controllers.push(controller);
    await controller.process.ready(clock, this.signal);
    return controller;
  }

  standings(): readonly NodeStanding[] {
    return standings({ network: this.arm.cloud.network, workload: this.workload });
  }

  /** Resolves once every pod has its address, and every node what its watermarks ask for. */
  untilSupplied(): Promise<void> {
    return this.until('every node has what its watermarks ask for', () => this.#isSupplied());
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    const end = clock.monotonic() + patience;
    while (!isSo()) {
      if (clock.monotonic() >= end)
        throw new Error(`it did not come about that ${what}\n${this.#lastWords()}`);
      await sleep(clock, lookInterval, this.signal);
    }
  }

  /** Stops everything. The objects of the API server are gone with it. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error('the cluster is stopped'));
    await this.workload.stop();
    await Promise.all(this.controllers.map(({ process }) => process.child.kill()));
    await this.api.stop();
    await this.#server.close();
    this.arm.clock.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #isSupplied(): boolean {
    return (
      this.workload.views.every(({ phase, pendingPods }) => phase === 'serving' && pendingPods.size === 0) &&
      this.standings().every(({ met }) => met)
    );
  }

  #lastWords(): string {
    const unmet = this.standings().filter(({ met }) => !met);
    const reported = this.controllers.flatMap(({ lines }) => lines.slice(-15).map(({ text }) => text));
    return [`not met: ${JSON.stringify(unmet)}`, ...this.invariants.violations, ...reported].join('\n');
  }
}
