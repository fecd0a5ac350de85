// Acts on held withdrawals: pauses what takes away, reports them once and notes them in the Lease for the
// next leader. Reviews them until they may proceed or their reason ends. The withdrawal brake decides.
import type { Options } from '../../config/option-table.ts';
import type { Fleet } from '../../manager/fleet.ts';
import type { CloudListener } from '../../manager/serving-event.ts';
import {
  sentenceOf,
  type Approval,
  type BrakeState,
  type HeldWithdrawalsSource,
  WithdrawalBrake,
  noteText,
  readNote,
} from '../../manager/withdrawals/withdrawal-brake.ts';
import type { NodeMember } from '../../manager/withdrawals/withdrawal-decision.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { WithdrawalGate } from '../../providers/inventory/withdrawals.ts';
import type { Cloud } from '../clouds/cloud.ts';
import type { Host } from '../host.ts';
import type { NodeEvents } from '../reporting/node-events.ts';
import type { WithdrawalReport } from '../reporting/status-report.ts';

/** The part of the Lease that stores notes for the next leader. */
export interface LeaseNotes {
  annotation(key: string): string | undefined;
  annotate(key: string, text: string | undefined): void;
}

export interface WithdrawalWatchDeps {
  readonly host: Pick<Host, 'clock' | 'log'> & { readonly options: Pick<Options, 'consistencyWindow'> };
  readonly held: HeldWithdrawalsSource;
  readonly fleet: Pick<Fleet, 'members'>;
  readonly listener: CloudListener;
  readonly approval: Approval;
  readonly cloud: Pick<Cloud, 'describe'>;
  readonly leadership: {
    readonly permission: Pick<MutationPermission, 'change'>;
    /** Undefined without leader election: there is no previous or next leader. */
    readonly lease: LeaseNotes | undefined;
  };
  readonly events: Pick<NodeEvents, 'record' | 'recordOnLease'>;
}

export const heldAnnotation = 'headwater/withdrawals-held';

/** Pause between reviews while something is held or unknown, in ms. */
const reviewInterval = 2000;
/**
 * Quiet time before the report, in ms. Reads of a large fleet arrive one by one and each changes the token.
 * The reported token must be the final one.
 */
const settleTime = 10_000;
/** Longest delay from closing to the report, even if the set keeps changing, in ms. */
const maxSettling = 60_000;
/** Each node gets Events on its CiliumNode and its Node: 20 in total. */
const maxNodesReported = 10;
const maxInstancesShown = 20;

export class WithdrawalWatch {
  readonly #deps: WithdrawalWatchDeps;
  readonly #brake: WithdrawalBrake;
  #scope = 'the cloud';
  #isClosed = false;
  #isAnnounced = false;
  /** Monotonic ms. */
  #closedAt = 0;
  /** A given token that belongs to another set. */
  #otherToken: string | undefined;
  #cancelReview: (() => void) | undefined;
  #cancelAnnouncement: (() => void) | undefined;
  #isStopped = false;

  constructor(deps: WithdrawalWatchDeps) {
    this.#deps = deps;
    const { held, fleet, approval } = deps;
    const { clock, options } = deps.host;
    const left = deps.leadership.lease?.annotation(heldAnnotation);
    this.#brake = new WithdrawalBrake({
      held,
      fleet,
      consistencyWindow: options.consistencyWindow,
      approval,
      clock,
      inherited: left === undefined ? undefined : readNote(left),
      onChange: () => this.#react(),
    });
  }

  get gate(): WithdrawalGate {
    return this.#brake;
  }

  /** Takes over what the previous leader held. */
  takeOverHeld(): void {
    this.#react();
  }

  /** A full resync of the cloud ended. */
  noteResync(): void {
    this.#brake.noteResync(this.#deps.host.clock.monotonic());
    this.#reviewIn(0);
  }

  /** Stops reports and reviews. The note in the Lease stays. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelReview?.();
    this.#cancelAnnouncement?.();
  }

  /** Why this process is not reliable now; undefined if it is. */
  problem(): string | undefined {
    const { state } = this.#brake;
    if (state.kind !== 'open') return this.#sentence(state);
    const isMatchingCloud = this.#brake.isMatchingCloud(this.#deps.host.clock.monotonic());
    return isMatchingCloud ? 'it looks for the instances of the nodes' : undefined;
  }

  report(): WithdrawalReport | undefined {
    const { state } = this.#brake;
    if (state.kind === 'open') return undefined;
    return {
      state: state.kind,
      why: this.#sentence(state),
      nodes: this.heldNodes,
      instances: this.#missing(state)
        .map(({ instanceId }) => instanceId)
        .slice(0, maxInstancesShown),
      ...(state.kind === 'held' && { token: state.token }),
    };
  }

  /** Number of nodes that keep what is missing. */
  get heldNodes(): number {
    const { state } = this.#brake;
    switch (state.kind) {
      case 'open':
        return 0;
      case 'held':
        return state.instanceIds.size;
      case 'inherited':
        return Math.max(state.note.nodes, this.#deps.held.heldWithdrawals().size);
      case 'misdirected':
        return state.missing;
    }
  }

  /** Applies the state of the brake everywhere. */
  #react(): void {
    const { permission } = this.#deps.leadership;
    const { state } = this.#brake;
    const wasClosed = this.#isClosed;
    this.#isClosed = state.kind !== 'open';
    permission.change({ withdrawalsHeld: this.#isClosed });
    this.#leaveNote();
    if (this.#isClosed && !wasClosed) this.#closed();
    else if (this.#isClosed && !this.#isAnnounced) this.#announceOnceSettled();
    if (!this.#isClosed && wasClosed) this.#opened();
  }

  #closed(): void {
    const { cloud, host } = this.#deps;
    void cloud.describe().then(({ scope }) => {
      this.#scope = scope;
      this.#leaveNote();
    });
    this.#closedAt = host.clock.monotonic();
    this.#announceOnceSettled();
    this.#reviewIn(reviewInterval);
  }

  #announceOnceSettled(): void {
    const { clock } = this.#deps.host;
    const left = this.#closedAt + maxSettling - clock.monotonic();
    this.#cancelAnnouncement?.();
    if (this.#isStopped) return;
    this.#cancelAnnouncement = clock.schedule(Math.max(0, Math.min(settleTime, left)), () =>
      this.#announce(),
    );
  }

  #opened(): void {
    this.#cancelAnnouncement?.();
    if (this.#isAnnounced) this.#deps.host.log.info('withdrawals are no longer held');
    this.#isAnnounced = false;
  }

  /** An inherited note stays as the previous leader wrote it. */
  #leaveNote(): void {
    const { state, inherited } = this.#brake;
    if (this.#isStopped || inherited !== undefined) return;
    const note =
      state.kind === 'held'
        ? noteText({ ...state, nodes: state.instanceIds.size, sentence: this.#sentence(state) })
        : undefined;
    this.#deps.leadership.lease?.annotate(heldAnnotation, note);
  }

  #announce(): void {
    const { host, events } = this.#deps;
    const { state } = this.#brake;
    if (state.kind === 'open') return;
    this.#isAnnounced = true;
    const why = this.#sentence(state);
    const report = { type: 'Warning', reason: 'WithdrawalsHeld', message: why } as const;
    host.log.warn('withdrawals are held: nothing is taken away', { why, nodes: this.heldNodes });
    events.recordOnLease(report);
    // An instance that is not found has its own condition on its node.
    const concerned = state.kind === 'held' ? this.#missing(state) : [];
    for (const { node } of concerned.slice(0, maxNodesReported)) events.record(node, report);
  }

  #reviewIn(ms: number): void {
    this.#cancelReview?.();
    if (!this.#isStopped) this.#cancelReview = this.#deps.host.clock.schedule(ms, () => this.#review());
  }

  #review(): void {
    const { host, listener } = this.#deps;
    const withdrawn = this.#brake.review(host.clock.monotonic());
    if (withdrawn.size > 0) listener.cloudChanged({ kind: 'instancesChanged', instanceIds: withdrawn });
    this.#checkToken();
    if (this.#brake.isUnsettled) this.#reviewIn(reviewInterval);
  }

  /** Logs once that the given token does not match what is held. */
  #checkToken(): void {
    const { approval, host } = this.#deps;
    const { state } = this.#brake;
    const { token } = approval;
    if (state.kind !== 'held' || token === undefined || token === this.#otherToken) return;
    this.#otherToken = token;
    host.log.warn('the token of --allow-withdrawals does not match the held withdrawals', {
      token,
      why: this.#sentence(state),
    });
  }

  #sentence(state: Exclude<BrakeState, { kind: 'open' }>): string {
    const networkIds = new Set(this.#deps.fleet.members().flatMap(({ networkId }) => networkId ?? []));
    return sentenceOf(state, this.#scope, [...networkIds].sort());
  }

  /** Sorted by node name. */
  #missing(state: BrakeState): readonly NodeMember[] {
    const held = state.kind === 'held' ? state.instanceIds : this.#deps.held.heldWithdrawals();
    const isMissing = ({ instanceId, presence }: NodeMember): boolean =>
      held.has(instanceId) || (state.kind === 'misdirected' && presence === 'notFound');
    return this.#deps.fleet
      .members()
      .filter(isMissing)
      .toSorted((a, b) => (a.node.name < b.node.name ? -1 : 1));
  }
}
