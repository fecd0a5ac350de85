// Deletes CiliumNodes of machines that are gone, so that nothing stays reserved for them. CiliumNodes of external workloads and of
// other clusters have no Node either, so an absence alone proves nothing: it must last, the live Node must be gone, and
// nothing else may own the object.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { ObjectIdentity } from '../object-identity.ts';

export type GcOutcome = 'deleted' | 'would_delete' | 'kept' | 'failed';

export interface GcCandidate extends Pick<ObjectIdentity, 'name' | 'uid' | 'createdAt' | 'isDeleting'> {
  /** The resource version. */
  readonly version: string;
  readonly isIgnored: boolean;
  /** The owner asks that it is kept although its machine is gone. */
  readonly isKept: boolean;
  readonly isOwned: boolean;
}

/** Why something could not be read or deleted. */
export interface GcFailure {
  readonly problem: string;
}

export interface CiliumNodeGcDeps {
  /** Ms. */
  readonly interval: number;
  readonly ciliumNodes: () => Iterable<GcCandidate>;
  /** Names of all Nodes; undefined while they are not known for sure. */
  readonly nodeNames: () => ReadonlySet<string> | undefined;
  /** Why nothing may be deleted now; undefined if it may. Called before each deletion. */
  readonly refusal: () => 'dryRun' | 'paused' | undefined;
  /** Whether the live Node is gone. */
  readonly isNodeGone: (name: string, signal: AbortSignal) => Promise<boolean | GcFailure>;
  /** Deletes the object in just this state. */
  readonly remove: (node: GcCandidate, signal: AbortSignal) => Promise<'deleted' | 'kept' | GcFailure>;
  /** `problem`: why it failed. */
  readonly onOutcome: (node: GcCandidate, outcome: GcOutcome, problem?: string) => void;
  readonly clock: Clock;
}

/** When a pass first saw a CiliumNode in this state without a Node, in monotonic ms. */
export interface GcMark extends Pick<GcCandidate, 'version'> {
  readonly since: number;
}

/** Facts of one pass. */
export interface GcFacts {
  readonly ciliumNodes: Iterable<GcCandidate>;
  readonly nodeNames: ReadonlySet<string>;
  /** By uid. */
  readonly marks: ReadonlyMap<string, GcMark>;
  /** By uid: when a pass last tried to delete it, in monotonic ms. */
  readonly tries: ReadonlyMap<string, number>;
  readonly interval: number;
  /** Monotonic and wall clock, in ms. */
  readonly now: number;
  readonly wall: number;
}

export interface GcPlan {
  readonly marks: ReadonlyMap<string, GcMark>;
  /** Two passes saw them without a Node, and nobody wrote them in between. Those that were not tried yet come first: one that cannot go holds up no other. */
  readonly due: readonly GcCandidate[];
  /** The most that this pass deletes, and the most that it tries in vain. */
  readonly max: number;
}

/** The most CiliumNodes that one pass deletes: this part of all, or one. */
const maxShare = 0.1;

/** Decides what a pass may delete. Pure. */
export function gcPlan({ ciliumNodes, nodeNames, marks, tries, interval, now, wall }: GcFacts): GcPlan {
  const all = [...ciliumNodes];
  const ownerless = all.filter(
    ({ name, isDeleting, isOwned, isIgnored, isKept, createdAt }) =>
      !nodeNames.has(name) && !(isDeleting || isOwned || isIgnored || isKept) && createdAt <= wall - interval,
  );
  // An agent that wrote meanwhile lives: its Node may have been there, too, while no pass and no watch showed that.
  const markOf = ({ uid, version }: GcCandidate): GcMark => {
    const mark = marks.get(uid);
    return mark?.version === version ? mark : { version, since: now };
  };
  const seen = new Map(ownerless.map((node) => [node.uid, markOf(node)]));
  const lastTry = ({ uid }: GcCandidate): number => tries.get(uid) ?? -1;
  const due = ownerless
    .filter(({ uid }) => (seen.get(uid)?.since ?? now) <= now - interval)
    .toSorted((a, b) => lastTry(a) - lastTry(b));
  return { marks: seen, due, max: Math.max(1, Math.floor(all.length * maxShare)) };
}

export class CiliumNodeGc {
  readonly #deps: CiliumNodeGcDeps;
  #marks: ReadonlyMap<string, GcMark> = new Map();
  #tries: ReadonlyMap<string, number> = new Map();
  /** Names of Nodes that were seen since the last pass. */
  readonly #seen = new Set<string>();
  #wouldDelete = 0;

  constructor(deps: CiliumNodeGcDeps) {
    this.#deps = deps;
  }

  /** How many CiliumNodes are to be deleted, in the last pass or later ones, and are not yet. */
  get wouldDelete(): number {
    return this.#wouldDelete;
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
      this.#wouldDelete = 0;
      return;
    }
    const plan = gcPlan({
      ciliumNodes: ciliumNodes(),
      nodeNames: new Set([...names, ...this.#seen]),
      marks: this.#marks,
      tries: this.#tries,
      interval,
      now: clock.monotonic(),
      wall: clock.wall(),
    });
    this.#marks = plan.marks;
    this.#seen.clear();
    this.#wouldDelete = plan.due.length;
    const tries = new Map([...this.#tries].filter(([uid]) => plan.marks.has(uid)));
    this.#tries = tries;
    let [deleted, stayed] = [0, 0];
    for (const node of plan.due) {
      if (deleted === plan.max || stayed === plan.max) return;
      tries.set(node.uid, clock.monotonic());
      const outcome = await this.#delete(node, signal);
      if (outcome === undefined) return;
      if (outcome === 'deleted' || outcome === 'would_delete') deleted++;
      else stayed++;
      this.#note(node, outcome);
    }
  }

  #note(node: GcCandidate, outcome: Exclude<GcOutcome, 'failed'> | GcFailure): void {
    if (outcome !== 'would_delete') this.#wouldDelete--;
    if (typeof outcome === 'string') this.#deps.onOutcome(node, outcome);
    else this.#deps.onOutcome(node, 'failed', outcome.problem);
  }

  /** Undefined if nothing may be deleted now. */
  async #delete(
    node: GcCandidate,
    signal: AbortSignal,
  ): Promise<Exclude<GcOutcome, 'failed'> | GcFailure | undefined> {
    const { isNodeGone, remove, refusal } = this.#deps;
    const isGone = await isNodeGone(node.name, signal);
    if (typeof isGone === 'object') return isGone;
    if (!isGone) return 'kept';
    const why = refusal();
    if (why !== undefined) return why === 'dryRun' ? 'would_delete' : undefined;
    return remove(node, signal);
  }
}
