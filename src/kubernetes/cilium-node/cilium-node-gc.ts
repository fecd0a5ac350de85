// Deletes CiliumNodes of machines that are gone, so that nothing stays reserved for them. CiliumNodes of external workloads and of
// other clusters have no Node either, so an absence alone proves nothing: it must last, the live Node must be gone, and
// nothing else may own the object.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { ObjectIdentity } from '../object-identity.ts';

export type GcOutcome = 'deleted' | 'would_delete' | 'kept' | 'failed';

export interface GcCandidate extends Pick<ObjectIdentity, 'name' | 'uid' | 'createdAt'> {
  /** The resource version. */
  readonly version: string;
  readonly isIgnored: boolean;
  /** The owner asks that it is kept although its machine is gone. */
  readonly isKept: boolean;
  readonly isOwned: boolean;
}

export interface CiliumNodeGcDeps {
  /** Ms. */
  readonly interval: number;
  readonly ciliumNodes: () => Iterable<GcCandidate>;
  /** Names of all Nodes; undefined while they are not known for sure. */
  readonly nodeNames: () => ReadonlySet<string> | undefined;
  /** Why nothing may be deleted now; undefined if it may. Called before each deletion. */
  readonly refusal: () => 'dryRun' | 'paused' | undefined;
  /** Whether the live Node is gone; undefined if that is not known. */
  readonly isNodeGone: (name: string, signal: AbortSignal) => Promise<boolean | undefined>;
  /** Deletes the object in just this state. */
  readonly remove: (node: GcCandidate, signal: AbortSignal) => Promise<'deleted' | 'kept' | 'failed'>;
  readonly onOutcome: (node: GcCandidate, outcome: GcOutcome) => void;
  readonly clock: Clock;
}

/** What one pass knows. */
export interface GcFacts {
  readonly ciliumNodes: Iterable<GcCandidate>;
  readonly nodeNames: ReadonlySet<string>;
  /** By uid: when a pass first saw it without a Node, in monotonic ms. */
  readonly marks: ReadonlyMap<string, number>;
  readonly interval: number;
  /** Monotonic and wall clock, in ms. */
  readonly now: number;
  readonly wall: number;
}

export interface GcPlan {
  readonly marks: ReadonlyMap<string, number>;
  /** Two passes saw it without a Node: those that this pass may delete. */
  readonly due: readonly GcCandidate[];
  /** How many more are due. */
  readonly postponed: number;
}

/** The most CiliumNodes that one pass deletes: this part of all, or one. */
const maxShare = 0.1;

/** Decides what a pass may delete. Pure. */
export function gcPlan({ ciliumNodes, nodeNames, marks, interval, now, wall }: GcFacts): GcPlan {
  const all = [...ciliumNodes];
  const ownerless = all.filter(
    ({ name, isOwned, isIgnored, isKept, createdAt }) =>
      !nodeNames.has(name) && !isOwned && !isIgnored && !isKept && createdAt <= wall - interval,
  );
  const seen = new Map(ownerless.map(({ uid }) => [uid, marks.get(uid) ?? now] as const));
  const due = ownerless.filter(({ uid }) => (seen.get(uid) ?? now) <= now - interval);
  const max = Math.max(1, Math.floor(all.length * maxShare));
  return { marks: seen, due: due.slice(0, max), postponed: Math.max(0, due.length - max) };
}

export class CiliumNodeGc {
  readonly #deps: CiliumNodeGcDeps;
  #marks: ReadonlyMap<string, number> = new Map();
  /** Names of Nodes that were seen since the last pass. */
  readonly #seen = new Set<string>();

  constructor(deps: CiliumNodeGcDeps) {
    this.#deps = deps;
  }

  /** A Node is there at this moment: one that is away now and then is not gone. */
  noteNode(name: string): void {
    this.#seen.add(name);
  }

  /** Makes passes until `signal` aborts; then rejects with its reason. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, interval } = this.#deps;
    for (;;) {
      await this.#pass(signal);
      await sleep(clock, interval, signal);
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { clock, interval, ciliumNodes, nodeNames } = this.#deps;
    const names = nodeNames();
    // Without a single Node, the list is wrong or the cluster is new.
    if (names === undefined || names.size === 0) {
      this.#marks = new Map();
      return;
    }
    const plan = gcPlan({
      ciliumNodes: ciliumNodes(),
      nodeNames: new Set([...names, ...this.#seen]),
      marks: this.#marks,
      interval,
      now: clock.monotonic(),
      wall: clock.wall(),
    });
    this.#marks = plan.marks;
    this.#seen.clear();
    for (const node of plan.due) {
      const outcome = await this.#delete(node, signal);
      if (outcome !== undefined) this.#deps.onOutcome(node, outcome);
    }
  }

  async #delete(node: GcCandidate, signal: AbortSignal): Promise<GcOutcome | undefined> {
    const { isNodeGone, remove, refusal } = this.#deps;
    const isGone = await isNodeGone(node.name, signal);
    if (isGone === undefined) return 'failed';
    if (!isGone) return 'kept';
    const why = refusal();
    if (why !== undefined) return why === 'dryRun' ? 'would_delete' : undefined;
    return remove(node, signal);
  }
}
