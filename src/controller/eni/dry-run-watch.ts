// Watches a dry run: each minute it compares what happened to each instance with what Headwater would have done, and logs the
// sum. It does nothing unless a dry run is on.
import type { CiliumNodeGc } from '../../kubernetes/cilium-node/cilium-node-gc.ts';
import type { PlannedStep } from '../../node/allocate/planned-step.ts';
import type { NodeSummary } from '../../node/reconcile/node-summary.ts';
import type { NodeManager } from '../../manager/node-manager.ts';
import { sleep } from '../../runtime/clock.ts';
import type { CloudState } from './cloud-state.ts';
import type { ClusterCache } from './cluster-cache.ts';
import type { Host, Leadership } from '../host.ts';
import {
  type Change,
  changeOf,
  comparedTo,
  type DryRunReport,
  dryRunReport,
  type DryRunTrack,
  type NodeDryRunReport,
  nodeDryRunReport,
} from '../reporting/dry-run-report.ts';
import { OtherDecisions } from '../reporting/other-decisions.ts';

const interval = 60_000;

export interface DryRunWatchDeps {
  readonly host: Pick<Host, 'clock' | 'log'>;
  readonly leadership: Pick<Leadership, 'access' | 'permission'>;
  readonly nodes: Pick<NodeManager, 'fleet' | 'cloudChanged'>;
  readonly cloud: Pick<CloudState, 'cloud' | 'implementation' | 'inventory' | 'readProblem'>;
  readonly cluster: Pick<ClusterCache, 'identityProblem' | 'nodeNames' | 'unserved'>;
}

type Reconciled = Extract<NodeSummary, { readonly kind: 'reconciled' }>;

export class DryRunWatch {
  readonly #deps: DryRunWatchDeps;
  readonly #tracks = new Map<string, DryRunTrack>();
  /** The first steps that Headwater would take for a node since the last look. */
  readonly #begun = new Map<string, { readonly at: number; readonly steps: readonly PlannedStep[] }>();
  readonly #decisions: OtherDecisions;
  #collection: Pick<CiliumNodeGc, 'wouldDelete'> | undefined;

  constructor(deps: DryRunWatchDeps) {
    this.#deps = deps;
    this.#decisions = new OtherDecisions(deps.host.log);
    // Changes of Headwater itself are no work of another program.
    deps.leadership.permission.onChange(() => {
      if (!this.#isOn) this.#forget();
    });
  }

  get #isOn(): boolean {
    return this.#deps.leadership.permission.pauses.dryRun;
  }

  /** Takes a step that a dry run does not take. Those of one plan come at one time. */
  note(node: string, step: PlannedStep): void {
    const at = this.#deps.host.clock.monotonic();
    const { at: since = at, steps = [] } = this.#begun.get(node) ?? {};
    if (since === at) this.#begun.set(node, { at, steps: [...steps, step] });
  }

  /** Rejects only with the signal's reason. `collection`: undefined if it is off. */
  async run(signal: AbortSignal, collection: Pick<CiliumNodeGc, 'wouldDelete'> | undefined): Promise<void> {
    this.#collection = collection;
    for (;;) {
      await sleep(this.#deps.host.clock, interval, signal);
      if (this.#isOn) this.#look();
    }
  }

  /** Undefined unless a dry run is on. */
  report(): DryRunReport | undefined {
    if (!this.#isOn) return undefined;
    const { nodes, cloud, cluster, leadership } = this.#deps;
    const summaries = [...nodes.fleet.figures()];
    return dryRunReport(summaries, {
      decided: this.#decisions.report(new Set(summaries.map(({ name }) => name))),
      access: { denied: cloud.cloud.denied().length, missing: leadership.access.missing },
      identityProblem: cluster.identityProblem,
      readProblem: cloud.readProblem,
      unannounced: [...(cluster.nodeNames() ?? [])].filter(
        (name) => cluster.unserved(name)?.standing === 'awaitsAgent',
      ).length,
      deleteCiliumNodes: this.#collection?.wouldDelete ?? 0,
      isAskable: cloud.implementation.rehearse !== undefined,
    });
  }

  /** Undefined unless a dry run is on and the node is served. */
  reportOn(name: string): NodeDryRunReport | undefined {
    if (!this.#isOn) return undefined;
    const entry = [...this.#deps.nodes.fleet.figures()].find((each) => each.name === name);
    return nodeDryRunReport(entry, this.#decisions.on(name));
  }

  #look(): void {
    const { host, nodes } = this.#deps;
    const { log } = host;
    const summaries = [...nodes.fleet.figures()];
    this.#keepOnly(new Set(summaries.map(({ name }) => name)));
    const known = summaries.filter((entry) => entry.kind === 'reconciled');
    for (const entry of known) this.#compare(entry);
    this.#begun.clear();
    this.#readAgain(known.filter(({ figures }) => (figures.planned ?? []).length > 0));
    const report = this.report();
    if (report === undefined) return;
    const { sentence, would, same, otherwise, notServed } = report;
    log.info('sum of the dry run', { sentence, nodes: report.nodes, would, same, otherwise, notServed });
  }

  /** Another program may have carried out by now what Headwater would do. */
  #readAgain(entries: readonly Reconciled[]): void {
    const { host, nodes, cloud } = this.#deps;
    const ids = new Set(entries.flatMap(({ figures }) => figures.view?.id ?? []));
    for (const id of ids) cloud.inventory.invalidate(id, host.clock.monotonic());
    if (ids.size > 0) nodes.cloudChanged({ kind: 'instancesChanged', instanceIds: ids });
  }

  #compare({ name, figures }: Reconciled): void {
    const before = this.#tracks.get(name);
    const { track, outcome } = comparedTo(before, figures, this.#begunOn(name));
    const isOther = before !== undefined && track !== undefined && track.instanceId !== before.instanceId;
    if (isOther) this.#decisions.drop(name);
    if (track === undefined) this.#tracks.delete(name);
    else this.#tracks.set(name, track);
    if (outcome !== undefined) this.#decisions.note(name, outcome);
  }

  #begunOn(name: string): Change | undefined {
    return changeOf(this.#begun.get(name)?.steps ?? []);
  }

  /** Forgets nodes that are gone: an instance may come under the name of one. */
  #keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#tracks.keys()) if (!names.has(name)) this.#tracks.delete(name);
    this.#decisions.keepOnly(names);
  }

  #forget(): void {
    for (const each of [this.#tracks, this.#begun]) each.clear();
    this.#decisions.forget();
  }
}
