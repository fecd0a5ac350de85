// A cluster that changes from a stand-in for cilium-operator to Headwater: twenty nodes of a cloud, the stand-in, two controllers
// that follow one mounted ConfigMap, and a log of who wrote what.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getText } from '../../../rig/http.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';
import { type OperatorCloud, StandInOperator } from '../../support/stand-in-operator.ts';
import { ModelCluster, type ServedModel } from './model-cluster.ts';
import { type Rival, Rivals } from './rivals.ts';
import { type LoggedWrite, WriteLog } from './write-log.ts';

export type TakeoverModel = ServedModel & { readonly operator: OperatorCloud };

/** How many nodes a takeover has. */
export const nodes = 20;
/** For how long two may write at once, 15 s, in renewals of a Lease. */
export const bothWrite = 15;
/** Between two runs of the stand-in, in ms. */
const period = 300;

export const byOperator = ({ program }: LoggedWrite): boolean => program.startsWith('cilium-operator');

export class Takeover {
  readonly config: MountedConfig;
  readonly writes: WriteLog;
  readonly model: TakeoverModel;
  readonly cluster: ModelCluster;
  readonly #directory: string;
  #rivals: Rivals | undefined;
  #operator: StandInOperator | undefined;

  private constructor(parts: Pick<Takeover, 'cluster' | 'config' | 'model' | 'writes'>, directory: string) {
    this.config = parts.config;
    this.writes = parts.writes;
    this.model = parts.model;
    this.cluster = parts.cluster;
    this.#directory = directory;
  }

  /** Resolves once the agents run. `flags`: of every controller. Always stop it. */
  static async start(model: TakeoverModel, flags: readonly string[]): Promise<Takeover> {
    const config = mountedConfig();
    const directory = mkdtempSync(join(tmpdir(), 'takeover-'));
    const writes = new WriteLog(directory, 'ciliumnodes');
    const cluster = await ModelCluster.start(model, {
      flags: [`--config-dir=${config.path}`, ...flags],
      apiFlags: writes.flags,
    });
    return new Takeover({ config, writes, model, cluster }, directory);
  }

  /** The controllers, which are started at the first call. */
  get rivals(): Rivals {
    this.#rivals ??= new Rivals(this.cluster);
    return this.#rivals;
  }

  startOperator(): void {
    const { clock, api } = this.cluster;
    const surroundings = {
      clock,
      cluster: { kubernetes: { handle: api.handler }, ec2: { network: this.model.network } },
    };
    this.#operator = new StandInOperator(surroundings, {
      cloud: this.model.operator,
      supplies: true,
      program: 'cilium-operator',
    });
    void this.#operator.run(period);
  }

  stopOperator(): void {
    this.#operator?.stop();
  }

  /** Starts a burst; resolves in its middle: some of its pods have addresses. `end` resolves once every node is supplied. */
  async midBurst(name: string, pods: number): Promise<{ readonly end: () => Promise<void> }> {
    const { workload, signal } = this.cluster;
    const { count } = workload.waits;
    const created = workload.run({ kind: 'burst', name, at: 0, pods, over: 3000 }, signal);
    await this.cluster.until('some pods of the burst have addresses', () => workload.waits.count > count);
    const end = async (): Promise<void> => {
      await created;
      await this.cluster.until('every pod has run', () => workload.waits.count >= count + pods);
      await this.cluster.untilSupplied();
    };
    return { end };
  }

  /** Kills the leader; resolves to the next one. */
  async killLeader(): Promise<Rival> {
    const { rival } = await this.rivals.leader();
    await rival.controller.process.child.kill();
    return (await this.rivals.leader(rival)).rival;
  }

  /** Resolves once the leader shows this as why it pauses what; empty if it pauses nothing. */
  async untilPaused(reasons: readonly string[]): Promise<void> {
    await this.cluster.until(`the leader is paused by ${reasons.join() || 'nothing'}`, async () => {
      const { rival } = await this.rivals.leader();
      const url = rival.controller.process.urlOf('/status');
      const answer = await getText(url, this.cluster.signal).catch(() => '{}');
      const { state, paused = [] } = JSON.parse(answer) as {
        readonly state?: string;
        readonly paused?: readonly { readonly reason: string }[];
      };
      return state === 'leading' && paused.map(({ reason }) => reason).join() === reasons.join();
    });
  }

  /** Events up to now that must not have happened. */
  async problems(): Promise<readonly string[]> {
    const { invariants } = this.cluster;
    await invariants.check();
    return [...invariants.violations, ...this.rivals.surprises];
  }

  async stop(): Promise<void> {
    this.stopOperator();
    await this.cluster.stop();
    this.config.remove();
    rmSync(this.#directory, { recursive: true });
  }
}
