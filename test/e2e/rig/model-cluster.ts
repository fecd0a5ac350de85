// A cluster on a served model of a cloud for a test: a real API server, the model and the agents in this process, and
// controllers as processes under the service account and the roles of the chart, with the permissions that the page of the
// cloud names.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudAccess } from '../../../rig/controller-process.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import { type NodeStanding, standings } from '../../../src/simulator/cluster/invariants.ts';
import { WorkloadFleet } from '../../../src/simulator/workload/workload-fleet.ts';
import { isObject, type JsonObject, listAt } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { ciliumNodesPath } from '../../../src/simulator/workload/own-node.ts';
import { ClusterInvariants } from './cluster-invariants.ts';
import { E2eController } from './e2e-controller.ts';
import { usualServiceAccount } from './e2e-cluster.ts';
import { type RealApi, startRealApi } from './real-api.ts';

/** Time limit of a wait, in ms: it ends hung tests and measures nothing. */
const patience = 90_000;
const lookInterval = 50;

/** A served model. */
export interface ServedModel {
  readonly network: CloudNetwork;
  readonly nodes: readonly NodeFacts[];
  /** How a controller finds it. It may write files for that into the directory. */
  readonly access: (directory: string) => Promise<CloudAccess>;
  readonly close: () => Promise<void>;
}

export interface ModelClusterOptions {
  /** Options of every controller, besides the usual ones. */
  readonly flags?: readonly string[];
  /** Options of the API server. */
  readonly apiFlags?: readonly string[];
}

export class ModelCluster {
  readonly clock = clock;
  readonly api: RealApi;
  readonly workload: WorkloadFleet;
  readonly invariants: ClusterInvariants;
  readonly controllers: E2eController[] = [];
  readonly #model: ServedModel;
  readonly #flags: readonly string[];
  readonly #directory: string;
  #access: Promise<string> | undefined;
  readonly #ending = new AbortController();

  private constructor(model: ServedModel, api: RealApi, directory: string, flags: readonly string[]) {
    const { network, nodes } = model;
    this.api = api;
    this.#model = model;
    this.#flags = flags;
    this.#directory = directory;
    this.workload = new WorkloadFleet({
      handler: api.handler,
      clock,
      random: new Random('e2e-workload'),
      nodes,
      pace: 10,
    });
    const listNodes = () => this.ciliumNodes();
    this.invariants = new ClusterInvariants({ network, workload: this.workload, listNodes, clock });
  }

  /** Resolves once the agents run. Always stop it, which closes the model too. */
  static async start(
    model: ServedModel,
    { flags = [], apiFlags = [] }: ModelClusterOptions = {},
  ): Promise<ModelCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'model-e2e-'));
    const api = await startRealApi({ clock, flags: apiFlags }).catch(async (error: unknown) => {
      await model.close();
      throw error;
    });
    const cluster = new ModelCluster(model, api, directory, flags);
    cluster.invariants.watch(cluster.signal).catch(() => undefined);
    await cluster.workload.start();
    return cluster;
  }

  /** Aborted when the cluster is stopped. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Resolves once the process serves health, metrics and status. */
  async startController(flags: readonly string[] = []): Promise<E2eController> {
    const controller = await E2eController.start({
      kubeconfig: await this.#kubeconfig(),
      cloud: await this.#model.access(this.#directory),
      flags: [
        '--cluster-name=e2e',
        '--cloud-call-timeout=8s',
        '--consistency-window=4s',
        ...this.#flags,
        ...flags,
      ],
      user: 'headwater',
    });
    this.controllers.push(controller);
    if (this.signal.aborted) await controller.process.child.kill();
    this.signal.throwIfAborted();
    return controller;
  }

  /** A kubeconfig for all, so that a controller can start while the API server is away. */
  #kubeconfig(): Promise<string> {
    this.#access ??= this.api.kubeconfigFor(usualServiceAccount);
    return this.#access;
  }

  /** The same, and it is ready. */
  async startReadyController(flags: readonly string[] = []): Promise<E2eController> {
    const controller = await this.startController(flags);
    await controller.process.ready(clock, this.signal);
    return controller;
  }

  standings(): readonly NodeStanding[] {
    return standings({ network: this.#model.network, workload: this.workload });
  }

  /** Resolves once every pod has its address, and every node what its watermarks ask for. */
  untilSupplied(): Promise<void> {
    return this.until('every node has what its watermarks ask for', () => this.isSupplied());
  }

  async until(
    what: string,
    isSo: () => boolean | Promise<boolean>,
    { limit = patience, every = lookInterval }: { readonly limit?: number; readonly every?: number } = {},
  ): Promise<void> {
    const end = clock.monotonic() + limit;
    while (!(await isSo())) {
      if (clock.monotonic() >= end)
        throw new Error(`it did not come about that ${what}\n${this.#lastWords()}`);
      await sleep(clock, every, this.signal);
    }
  }

  async ciliumNodes(): Promise<readonly JsonObject[]> {
    return listAt(await this.api.call('GET', ciliumNodesPath), 'items').filter(isObject);
  }

  /** Stops everything. The objects of the API server are gone with it. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error('the cluster is stopped'));
    await this.workload.stop();
    await Promise.all(this.controllers.map(({ process }) => process.child.kill()));
    await this.api.stop();
    await this.#model.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Every agent serves, every pod has its address, and the cloud holds what every watermark asks for. */
  isSupplied(): boolean {
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
