// Everything that a trial needs: the EC2 model, the Kubernetes API and each controller in processes of their own, a veil
// between controllers and EC2, and the agents in this process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiProcess } from '../../../bench/rig/api-process.ts';
import { CloudProcess } from '../../../bench/rig/cloud-process.ts';
import { aws } from '../../../bench/clouds/aws.ts';
import type { RigChild } from '../../../rig/child-process.ts';
import { accessToEc2, ControllerProcess, type Ec2Access } from '../../../rig/controller-process.ts';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { startTokenService } from '../../support/security-token-service.ts';
import { Ec2Hand } from './ec2-hand.ts';
import { TrialFleet } from './trial-fleet.ts';
import {
  account,
  limitScale,
  machinesOf,
  region,
  type TrialPlan,
  trialTopology,
  usedAtFirst,
} from './trial-topology.ts';
import { startVeiledEc2, type VeiledEc2 } from './veil.ts';

/** The controller's consistency window, in ms; the model takes 1 s at most. */
export const consistencyWindow = 3000;

/** The controller's resync interval, in ms: the shortest that it accepts. */
export const resyncInterval = 10_000;

const flags = [
  '--cluster-name=trial',
  `--consistency-window=${consistencyWindow}ms`,
  `--resync-interval=${resyncInterval}ms`,
  '--aws-release-excess-ips=true',
  '--excess-ip-release-delay=2s',
  '--release-quarantine=3s',
  '--leader-election-lease-duration=10s',
  '--leader-election-renew-deadline=7s',
  // The quotas of the controller match the wide limits of the model, so that rate limits decide nothing.
  ...aws.quotaFlags(limitScale),
  `--cloud-quota-overrides=UnassignPrivateIpAddresses=${100 * limitScale}:${5 * limitScale}`,
];

export interface TrialEnvironment {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface Where {
  readonly region: string;
  readonly ec2: Ec2Access;
  readonly kubeconfig: string;
}

export class TrialCluster {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly directory: string;
  readonly api: ApiProcess;
  readonly veil: VeiledEc2;
  readonly fleet: TrialFleet;
  readonly hand: Ec2Hand;
  readonly where: Where;
  readonly #stsUrl: string;
  readonly #added: <P extends { readonly child: RigChild }>(process: P) => P;

  constructor(parts: TrialParts) {
    const { processEnvironment, directory, cloud, api, veil, stsUrl, added } = parts;
    const { clock, signal } = processEnvironment;
    this.clock = clock;
    this.signal = signal;
    this.directory = directory;
    this.api = api;
    this.veil = veil;
    this.fleet = new TrialFleet(api.url, clock, signal);
    this.hand = new Ec2Hand(cloud, region, signal);
    this.where = {
      region,
      ec2: { url: veil.url, credentials: cloud.credentials },
      kubeconfig: api.kubeconfig,
    };
    this.#stsUrl = stsUrl;
    this.#added = added;
  }

  /** A controller, not ready yet, that finds its cluster and its cloud there. */
  async startController(where: Where = this.where): Promise<ControllerProcess> {
    const { kubeconfig, ec2, region: named } = where;
    const env = { AWS_ENDPOINT_URL_STS: this.#stsUrl };
    return this.#added(
      await ControllerProcess.start({ kubeconfig, cloud: accessToEc2(ec2, named), flags, env }),
    );
  }

  /** Another cloud in a process of its own. */
  async startCloud(topology: string): Promise<CloudProcess> {
    return this.#added(
      await CloudProcess.serving(aws.server, topology, join(this.directory, 'other-topology.json')),
    );
  }

  /** Resolves to the seconds until `isSo`; rejects with `what` if that never comes. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<number> {
    const start = this.clock.monotonic();
    const elapsed = (): number => this.clock.monotonic() - start;
    while (!(await isSo())) {
      if (elapsed() > patience)
        throw new Error(`in ${patience / 1000} s it never was so: ${what}${this.#lost()}`);
      await sleep(this.clock, lookInterval, this.signal);
    }
    return elapsed() / 1000;
  }

  #lost(): string {
    const lost = this.fleet.everyNode.reduce((sum, node) => sum + node.lost.size, 0);
    return lost === 0 ? '' : `; by then ${lost} addresses in use were lost`;
  }
}

/** Time limit of a wait, in ms. */
const patience = 180_000;
const lookInterval = 100;

interface TrialParts {
  readonly processEnvironment: TrialEnvironment;
  readonly directory: string;
  readonly cloud: CloudProcess;
  readonly api: ApiProcess;
  readonly veil: VeiledEc2;
  readonly stsUrl: string;
  readonly added: <P extends { readonly child: RigChild }>(process: P) => P;
}

/**
 * A cluster whose nodes use addresses and are served by a controller. Rejects if one of the processes ends early, and when the
 * signal is aborted. In any case it leaves no process behind.
 */
export async function withTrialCluster<T>(
  plan: TrialPlan,
  { clock, signal: outer }: TrialEnvironment,
  use: (cluster: TrialCluster, controller: ControllerProcess) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'headwater-trial-'));
  const ending = new AbortController();
  const signal = AbortSignal.any([outer, ending.signal]);
  const endings: (() => Promise<unknown>)[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  outer.addEventListener('abort', () => failed.reject(outer.reason), { once: true, signal: ending.signal });
  const added = <P extends { readonly child: RigChild }>(process: P): P => {
    endings.push(() => process.child.kill());
    process.child.failure().catch(failed.reject);
    return process;
  };
  const play = async (): Promise<T> => {
    const cloud = added(
      await CloudProcess.serving(aws.server, trialTopology(plan), join(directory, 'topology.json')),
    );
    const api = added(await ApiProcess.start(directory));
    const veil = await startVeiledEc2(cloud.url);
    const sts = await startTokenService([], () => clock.wall(), account);
    endings.push(veil.close, sts.close);
    const processEnvironment = { clock, signal };
    const cluster = new TrialCluster({
      processEnvironment,
      directory,
      cloud,
      api,
      veil,
      stsUrl: sts.url,
      added,
    });
    endings.push(() => Promise.resolve(cluster.hand.close()));
    cluster.fleet.working.catch((error: unknown) => {
      if (!signal.aborted) failed.reject(error);
    });
    const controller = await cluster.startController();
    await controller.ready(clock, signal);
    await cluster.fleet.join(machinesOf(await cluster.hand.state(), 'node'), usedAtFirst);
    const { nodes } = cluster.fleet;
    await cluster.until('every node uses its addresses', () => nodes.every(({ isSettled }) => isSettled));
    return use(cluster, controller);
  };
  try {
    const played = play();
    // If the trial ends for another reason, this work ends later, and nothing awaits it.
    played.catch(() => undefined);
    return await Promise.race([played, failed.promise]);
  } finally {
    ending.abort(new Error('the trial is over'));
    await Promise.all(endings.map((end) => end()));
    await rm(directory, { recursive: true, force: true });
  }
}
