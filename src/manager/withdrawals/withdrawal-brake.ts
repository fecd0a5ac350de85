// The withdrawal brake. Holds withdrawals by absence if too much is missing at once (withdrawal-decision.ts), if the
// previous leader held them, or while the cloud does not show the cluster. Only decides: withdrawal-watch.ts reports the
// state and pauses calls.
import type { WithdrawalGate } from '../../providers/inventory/withdrawals.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  countedFor,
  type CloudMatch,
  cloudMatchOf,
  type NodeMember,
  isWithinLimit,
  missingIn,
  tokenOf,
} from './withdrawal-decision.ts';
import { objectIn, textAt, valueAt } from '../../runtime/json.ts';

export type BrakeState =
  | { readonly kind: 'open' }
  /** More is missing at once than the limit admits. */
  | {
      readonly kind: 'held';
      /** When it was held, in ms since the epoch. */
      readonly since: number;
      readonly instanceIds: ReadonlySet<string>;
      readonly token: string;
      /** Other nodes that lost something missing within the last 10 minutes. */
      readonly recent: number;
      /** Nodes that use addresses. */
      readonly users: number;
    }
  /** The previous leader held withdrawals, and this process has not read enough to evaluate them. */
  | { readonly kind: 'inherited'; readonly note: HeldWithdrawalsNote }
  /** Since startup, most instances are not found. */
  | { readonly kind: 'misdirected'; readonly missing: number; readonly of: number };

/** The part of the inventory that the brake asks about held withdrawals. */
export interface HeldWithdrawalsSource {
  heldWithdrawals(): ReadonlySet<string>;
  /** Asks the gate again about them. Returns the instances that changed. */
  reevaluate(now: number): ReadonlySet<string>;
}

/** Withdrawals that a user approves. */
export interface Approval {
  /** The token of one set, as configured now. */
  readonly token: string | undefined;
}

export interface WithdrawalBrakeDeps {
  readonly held: HeldWithdrawalsSource;
  readonly fleet: { members(): readonly NodeMember[] };
  /** In ms. */
  readonly consistencyWindow: number;
  readonly clock: Pick<Clock, 'wall'>;
  /** The note of the previous leader; undefined if it held nothing. */
  readonly inherited: HeldWithdrawalsNote | undefined;
  readonly approval: Approval;
  /** Called after each change of the state. */
  readonly onChange: (state: BrakeState) => void;
}

/**
 * Consistency windows to wait before evaluating inherited withdrawals: proving an absence takes two reads one window
 * apart.
 */
const ownReadings = 2;

const open: BrakeState = { kind: 'open' };
const none: ReadonlySet<string> = new Set();

export class WithdrawalBrake implements WithdrawalGate {
  readonly #deps: WithdrawalBrakeDeps;
  #state: BrakeState;
  #inherited: HeldWithdrawalsNote | undefined;
  /** The previous leader held withdrawals. A small number then does not admit them, so a restart releases none. */
  #isPreviousLeaders: boolean;
  #cloudMatch: CloudMatch = 'unknown';
  /** When the first complete resync ended, in monotonic ms. */
  #readAt: number | undefined;
  /** Instances with an admitted withdrawal, with its time in monotonic ms. */
  readonly #admitted = new Map<string, number>();

  constructor(deps: WithdrawalBrakeDeps) {
    this.#deps = deps;
    this.#inherited = deps.inherited;
    this.#isPreviousLeaders = deps.inherited !== undefined;
    this.#state = deps.inherited === undefined ? open : { kind: 'inherited', note: deps.inherited };
  }

  get state(): BrakeState {
    return this.#state;
  }

  /** The note of the previous leader, until its withdrawals are evaluated again. */
  get inherited(): HeldWithdrawalsNote | undefined {
    return this.#inherited;
  }

  /** Whether it must be reviewed soon. */
  get isUnsettled(): boolean {
    return this.#state.kind !== 'open' || this.#cloudMatch !== 'right';
  }

  /** Whether the right cloud is neither confirmed nor ruled out, and can still be. `now` is monotonic. */
  isMatchingCloud(now: number): boolean {
    return this.#cloudMatch === 'unknown' && now < this.#ownReadingsAt;
  }

  /** A complete resync of the cloud ended. */
  noteResync(now: number): void {
    this.#readAt ??= now;
  }

  admit(instanceIds: ReadonlySet<string>, now: number, suspected: () => ReadonlySet<string>): boolean {
    if (this.#waits(now)) return false;
    const held = this.#assessWithdrawals(instanceIds, now, suspected);
    if (held === undefined) for (const id of instanceIds) this.#admitted.set(id, now);
    this.#inherited = undefined;
    this.#enter(held ?? open);
    return held === undefined;
  }

  ofNodes(): ReadonlySet<string> {
    const living = this.#deps.fleet.members().filter(({ hasNode }) => hasNode);
    return new Set(living.map(({ instanceId }) => instanceId));
  }

  /** Re-evaluates the state. Returns the instances with a withdrawal admitted now. */
  review(now: number): ReadonlySet<string> {
    const { held, fleet } = this.#deps;
    if (this.#cloudMatch !== 'right' && this.#readAt !== undefined) this.#matchCloud(fleet.members());
    if (this.#waits(now)) return this.#awaitReadings();
    if (this.#state.kind === 'open') return none;
    if (held.heldWithdrawals().size > 0) return held.reevaluate(now);
    this.#inherited = undefined;
    this.#isPreviousLeaders = false;
    this.#enter(open);
    return none;
  }

  #awaitReadings(): ReadonlySet<string> {
    const note = this.#inherited;
    if (this.#cloudMatch !== 'wrong' && note !== undefined) this.#enter({ kind: 'inherited', note });
    return none;
  }

  #matchCloud(members: readonly NodeMember[]): void {
    const cloudMatch = cloudMatchOf(members);
    if (cloudMatch !== 'unknown') this.#cloudMatch = cloudMatch;
    if (this.#cloudMatch !== 'wrong') return;
    const living = members.filter(({ hasNode }) => hasNode);
    this.#enter({ kind: 'misdirected', missing: missingIn(living).length, of: living.length });
  }

  /** Whether nothing can be evaluated yet. */
  #waits(now: number): boolean {
    return this.#cloudMatch === 'wrong' || (this.#inherited !== undefined && now < this.#ownReadingsAt);
  }

  /** In monotonic ms. */
  get #ownReadingsAt(): number {
    return (this.#readAt ?? Infinity) + ownReadings * this.#deps.consistencyWindow;
  }

  /** Undefined if the withdrawals may proceed. */
  #assessWithdrawals(
    instanceIds: ReadonlySet<string>,
    now: number,
    suspected: () => ReadonlySet<string>,
  ): BrakeState | undefined {
    const { fleet, approval, clock } = this.#deps;
    for (const [id, at] of this.#admitted) if (now - at >= countedFor) this.#admitted.delete(id);
    const all = fleet.members();
    const isFew = isWithinLimit({ instanceIds, suspected, admitted: this.#admitted, members: all, now });
    const isOver = now >= this.#ownReadingsAt + countedFor;
    if (isFew && (isOver || !this.#isPreviousLeaders)) return undefined;
    const since =
      this.#state.kind === 'held' ? this.#state.since : (this.#inherited?.since ?? Math.floor(clock.wall()));
    const token = this.#tokenOf(instanceIds, since);
    if (approval.token === token) return undefined;
    const recent = [...this.#admitted.keys()].filter((id) => !instanceIds.has(id)).length;
    const users = all.filter(({ hasNode, usesAddresses }) => hasNode && usesAddresses).length;
    return { kind: 'held', since, instanceIds, token, recent, users };
  }

  /** It is asked about the same instances at each refresh of one of them. */
  #tokenOf(instanceIds: ReadonlySet<string>, since: number): string {
    const state = this.#state;
    const isSame = state.kind === 'held' && state.instanceIds === instanceIds && state.since === since;
    return isSame ? state.token : tokenOf(instanceIds, since);
  }

  #enter(state: BrakeState): void {
    const isSame = keyOf(state) === keyOf(this.#state);
    this.#state = state;
    if (!isSame) this.#deps.onChange(state);
  }
}

/** The part of a state that is reported to users. */
function keyOf(state: BrakeState): string {
  switch (state.kind) {
    case 'held':
      return `${state.token} ${state.recent} ${state.users}`;
    case 'misdirected':
      return `${state.missing} of ${state.of}`;
    default:
      return state.kind;
  }
}

/** Maximum number of networks named. */
const maxNetworks = 3;

const question = 'is this the right region and role?';

/**
 * Why withdrawals are held, in one sentence that a user can act on. `scope`: where the cloud is queried, in its own terms:
 * region and account. `networkIds`: those of the nodes.
 */
export function sentenceOf(
  state: Exclude<BrakeState, { kind: 'open' }>,
  scope: string,
  networkIds: readonly string[],
): string {
  const where = placeOf(networkIds);
  switch (state.kind) {
    case 'misdirected': {
      const { missing, of } = state;
      const which =
        missing === of ? `none of the ${count(of)}` : `only ${count(of - missing)} of the ${count(of)}`;
      const verb = missing === of || of - missing === 1 ? 'is' : 'are';
      return `${which} instances${where} ${verb} in ${scope}: ${question} Nothing is taken away until most of them are found`;
    }
    case 'held': {
      const { instanceIds, recent, users, token } = state;
      const before = recent === 0 ? '' : `, and of ${nodes(recent)} in the 10 minutes before,`;
      const what = `interfaces or addresses of ${nodes(instanceIds.size)}${where}${before}`;
      return `${what} are missing in ${scope}, where ${count(users)} use addresses: ${question} Nothing is taken away until they are shown again; if they are gone for good, approve that with --allow-withdrawals=${token}`;
    }
    case 'inherited':
      return `nothing is taken away before this process has read ${scope} twice, because the previous leader held withdrawals: ${state.note.sentence}`;
  }
}

function placeOf(networkIds: readonly string[]): string {
  if (networkIds.length === 0) return '';
  const more = networkIds.length - maxNetworks;
  const named = networkIds.slice(0, maxNetworks).join(', ');
  return ` of ${named}${more > 0 ? ` and ${count(more)} more` : ''}`;
}

function nodes(number: number): string {
  return number === 1 ? '1 node' : `${count(number)} nodes`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

/**
 * The note with which a leader that holds withdrawals informs its successor. Only Headwater writes it, but a user may have edited
 * it: an unreadable note still means that withdrawals were held.
 */
export interface HeldWithdrawalsNote {
  /** When they were first held, in ms since the epoch; undefined if unreadable. */
  readonly since: number | undefined;
  readonly token: string;
  /** Number of nodes with something missing. */
  readonly nodes: number;
  readonly sentence: string;
}

/** The API server limits the total annotations of an object; ours stays far below. */
const maxSentenceCharacters = 1000;

export function noteText({ since, token, nodes, sentence }: HeldWithdrawalsNote): string {
  const at = since === undefined ? undefined : new Date(since).toISOString();
  return JSON.stringify({ since: at, token, nodes, sentence: sentence.slice(0, maxSentenceCharacters) });
}

export function readNote(text: string): HeldWithdrawalsNote {
  const fields = objectIn(text);
  const since = Date.parse(textAt(fields, 'since') ?? '');
  const nodes = valueAt(fields, 'nodes');
  return {
    since: Number.isNaN(since) ? undefined : since,
    token: textAt(fields, 'token') ?? '',
    nodes: typeof nodes === 'number' && Number.isSafeInteger(nodes) && nodes >= 0 ? nodes : 0,
    sentence: textAt(fields, 'sentence')?.slice(0, maxSentenceCharacters) || 'its reason cannot be read',
  };
}
