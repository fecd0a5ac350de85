// How long the rate limits hold calls back, by the token buckets that decide when each is sent. Pure.
import { operationsOf } from '../../node/allocate/planned-step.ts';
import type { Priority } from '../../providers/contract/priority.ts';
import { takeTokens, type TokenBucket } from '../../providers/rate-limit/token-bucket.ts';
import { type GrantedBucket, untilAlone } from '../../providers/rate-limit/token-scheduler.ts';
import type { NodeKind } from '../../controller/reporting/planning-report.ts';
import type { StepOfNode } from './added-node.ts';
import type { PlanningFacts } from './planning-facts.ts';

type Level = PlanningFacts['buckets'][number];

/** Tokens as a single caller takes them. Times are in ms from now. */
export class CallTimes {
  readonly #levels: ReadonlyMap<string, Level>;
  readonly #buckets = new Map<string, GrantedBucket>();
  /** When the last call is sent. */
  now = 0;
  /** By limit, for how long calls waited that it held back. */
  readonly #waits = new Map<string, number>();

  constructor(levels: readonly Level[]) {
    this.#levels = new Map(levels.map((level) => [level.action, level]));
  }

  /** Sends the calls of a step, as soon as its limits admit them. `node`: has limits of its own. */
  send(
    { step, priority }: Pick<StepOfNode, 'step' | 'priority'>,
    calls: NodeKind['calls'],
    node: number,
  ): void {
    const names = operationsOf[step.kind].flatMap((operation) => calls[operation] ?? []);
    const tokens = new Map<string, number>();
    for (const name of names) {
      const id = this.#levels.get(name)?.perThing === true ? `${name} ${node}` : name;
      if (this.#bucket(id, name) !== undefined) tokens.set(id, (tokens.get(id) ?? 0) + 1);
    }
    this.#wait(tokens, priority);
    for (const [id, count] of tokens) {
      const known = this.#buckets.get(id);
      if (known !== undefined)
        this.#buckets.set(id, { ...known, bucket: takeTokens(known.bucket, count, this.now) });
    }
  }

  /** The limit that held calls back for the longest time; undefined if none did. */
  get slowest(): string | undefined {
    return [...this.#waits].toSorted(([, a], [, b]) => b - a)[0]?.[0];
  }

  #wait(tokens: ReadonlyMap<string, number>, priority: Priority): void {
    const waits = [...tokens].map(([id, count]) => [id, this.#until(id, count, priority)] as const);
    const [slowest, wait] = waits.reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0] as const);
    if (wait <= 0) return;
    const [name = ''] = slowest.split(' ');
    const shown = this.#levels.has(slowest) ? slowest : name;
    this.#waits.set(shown, (this.#waits.get(shown) ?? 0) + wait);
    this.now += wait;
  }

  #until(id: string, count: number, priority: Priority): number {
    const costs = { tokens: new Map([[id, count]]), later: none };
    return untilAlone(
      { costs, perThing: noThings, caller: { priority }, inFlight: false },
      this.#buckets,
      this.now,
    );
  }

  #bucket(id: string, name: string): GrantedBucket | undefined {
    const level = this.#levels.get(name);
    const known = this.#buckets.get(id);
    if (known !== undefined || level === undefined) return known;
    const made = { bucket: bucketAt(level), notBefore: -Infinity, followDelay: 0, skipped: {} };
    this.#buckets.set(id, made);
    return made;
  }
}

const none: ReadonlySet<string> = new Set();
const noThings: ReadonlyMap<string, number> = new Map();

/** A thing that is new has all of its tokens. */
function bucketAt({
  tokens,
  capacity,
  refillPerSecond: refill,
  windowSeconds,
  perThing,
}: Level): TokenBucket {
  const size = { capacity, refill };
  const left = perThing === true ? capacity : Math.min(tokens, capacity);
  if (windowSeconds === undefined) return { ...size, tokens: left, at: 0, unsent: 0, taken: [] };
  const taken = capacity > left ? [{ at: 0, count: capacity - left }] : [];
  return { ...size, window: windowSeconds * 1000, tokens: 0, at: 0, unsent: 0, taken };
}
