// One leader at a time, by a Lease. It never claims to lead past the end of its own lease, whatever happens to the process:
// that end counts from before the request that last renewed it, on two clocks, and is looked at on every read.
//
// Nobody may delete the Lease of a leader that runs: a process that starts just then finds none and takes it. Those that
// had seen it wait for its end all the same.
import { type Clock, sleep } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { Refusal } from './api-reply.ts';
import { LeaseClient, type LeaseReply, type Patience } from './lease-client.ts';
import type { LeaseClaim } from './lease-record.ts';
import { LeaseSighting } from './lease-sighting.ts';
import { checkedLeaseTimings, jitterFactor, type LeaseTimings } from './lease-timings.ts';
import type { KubernetesTransport } from './transport.ts';

export interface LeaderElectionOptions {
  /** Best one that does not share its connections with others: a renewal must not wait behind them. */
  readonly transport: KubernetesTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly name: string;
  /** Must be another for each process, and for each start of it. */
  readonly identity: string;
  /** Where absent, `defaultLeaseTimings`. */
  readonly timings?: Partial<LeaseTimings>;
  /** Told when the kind of the state changes, and on standby when the holder does. */
  readonly onChange?: (state: Leadership) => void;
  /** Told once for as long as attempts fail in the same way. */
  readonly onProblem?: (problem: Refusal) => void;
  readonly onBug: (error: unknown) => void;
}

/** When our own lease ends. */
export interface LeaseEnd {
  /** In monotonic ms. */
  readonly monotonic: number;
  /** In ms since the epoch. */
  readonly wall: number;
}

export type Leadership =
  /** Somebody else leads, or nobody: then we try. */
  | { readonly kind: 'standby'; readonly holder: string | undefined }
  | { readonly kind: 'leading'; readonly until: LeaseEnd }
  /** For good: what was begun as leader has to end. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** Given back. */
  | { readonly kind: 'stopped' };

/** With less time left, in ms, no answer could come: a renewal that has its effect all the same would keep others waiting. */
const shortestTry = 50;

/** What became of an attempt to hold the lease: we do, somebody else does, or it is not known. */
type Attempt = 'held' | 'another' | 'failed';

export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #timings: LeaseTimings;
  readonly #client: LeaseClient;
  readonly #sighting: LeaseSighting;
  #state: Leadership = { kind: 'standby', holder: undefined };
  /** Before our last successful request was sent, in monotonic ms. */
  #renewed = -Infinity;
  /** Whether the Lease may say that we hold it. */
  #claimed = false;
  #problem: Refusal | undefined;

  /** Throws LEASE_TIMINGS_INVALID. */
  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timings = checkedLeaseTimings(options.timings ?? {});
    this.#client = new LeaseClient(options.transport, options.namespace, options.name);
    this.#sighting = new LeaseSighting(options.identity, this.#timings.leaseDuration);
  }

  /** As of this very moment. */
  get state(): Leadership {
    if (this.#state.kind === 'leading' && this.#isPast(this.#state.until)) {
      this.#lose(
        'the lease ended before it was renewed: the process was stopped or starved, or a clock was set',
      );
    }
    return this.#state;
  }

  /** Why the last attempt to learn of the Lease, to get or to renew it failed; undefined where it did not. */
  get problem(): Refusal | undefined {
    return this.#problem;
  }

  /**
   * The end of our own lease; undefined unless we lead at this very moment. What must not overlap with another leader has to
   * be over before it.
   */
  leaseEnd(): LeaseEnd | undefined {
    const { state } = this;
    return state.kind === 'leading' ? state.until : undefined;
  }

  /**
   * Waits for leadership, and keeps it. Resolves with `lost` when it is lost after it was had, and with `stopped` after
   * `signal` was aborted and the lease given back: abort it when nothing is under way any more that needs leadership.
   * To be called once.
   */
  async run(signal: AbortSignal): Promise<'lost' | 'stopped'> {
    try {
      await this.#standBy(signal);
      await this.#lead(signal);
      return 'lost';
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (this.state.kind === 'lost') return 'lost';
    this.#enter({ kind: 'stopped' });
    if (this.#claimed) await this.#giveBack();
    return 'stopped';
  }

  async #standBy(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    for (;;) {
      const attempt = await this.#tryToAcquire(signal);
      if (attempt === 'held') return;
      if (attempt === 'another') this.#problem = undefined;
      const retry = this.#timings.retryPeriod * (1 + random.next() * (jitterFactor - 1));
      // At the very moment when the other's lease is over by what we saw, rather than at the next turn.
      const untilFree = this.#sighting.freeAt() - clock.monotonic();
      await sleep(clock, untilFree > 0 ? Math.min(retry, untilFree) : retry, signal);
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (this.state.kind === 'leading') {
      await sleep(clock, Math.min(this.#timings.retryPeriod, Math.max(0, this.#timeLeft())), signal);
      if (this.state.kind !== 'leading') return;
      if (this.#timeLeft() < shortestTry)
        this.#lose(`could not renew the lease for ${this.#timings.renewDeadline / 1000} s`);
      else if ((await this.#renew(signal)) === 'another') {
        this.#lose(`${this.#sighting.holder ?? 'somebody'} has taken the lease`);
      }
    }
  }

  async #tryToAcquire(signal: AbortSignal): Promise<Attempt> {
    if (!this.#isKnownFree()) {
      const looked = await this.#look(signal);
      if (looked === 'failed' && !this.#isKnownFree()) return 'failed';
    }
    if (this.#options.clock.monotonic() < this.#sighting.freeAt()) return 'another';
    const attempt = await this.#claim(signal);
    // Somebody was faster: see who, so that their lease is waited for.
    return attempt === 'another' ? this.#look(signal) : attempt;
  }

  /** A conflict may be an earlier request of ours whose answer was lost: only the Lease itself tells who holds it. */
  async #renew(signal: AbortSignal): Promise<Attempt> {
    const attempt = await this.#claim(signal);
    if (attempt !== 'another') return attempt;
    const looked = await this.#look(signal);
    if (looked === 'failed') return 'failed';
    if (!this.#sighting.isOurs && !this.#sighting.isMissing) return 'another';
    return (await this.#claim(signal)) === 'held' ? 'held' : 'failed';
  }

  /** Reads the Lease. What it says is in the sighting then. */
  async #look(signal: AbortSignal): Promise<Attempt> {
    const reply = await this.#client.read(this.#patience(signal));
    if (reply.kind === 'lease') this.#see(reply);
    else if (reply.kind === 'missing') this.#sighting.miss(this.#options.clock.monotonic());
    else return this.#fail(reply);
    return 'another';
  }

  /** Creates the Lease if there was none, else writes over the state that was last seen. */
  async #claim(signal: AbortSignal): Promise<Attempt> {
    const { clock } = this.#options;
    const { lease } = this.#sighting;
    const before = { monotonic: clock.monotonic(), wall: clock.wall() };
    const patience = this.#patience(signal);
    this.#claimed = true;
    const reply =
      lease === undefined
        ? await this.#client.create(this.#ourClaim(), patience)
        : await this.#client.claim(lease, this.#ourClaim(), patience);
    if (reply.kind === 'lease') return this.#hold(reply, before);
    if (reply.kind === 'conflict') return 'another';
    if (reply.kind === 'missing' && lease !== undefined) {
      this.#sighting.miss(this.#options.clock.monotonic());
      return 'another';
    }
    return this.#fail(reply);
  }

  #hold(reply: LeaseReply & { readonly kind: 'lease' }, before: LeaseEnd): Attempt {
    const { leaseDuration } = this.#timings;
    const until = { monotonic: before.monotonic + leaseDuration, wall: before.wall + leaseDuration };
    this.#see(reply);
    this.#problem = undefined;
    // An answer that comes too late is no lease; and a lease that ended in between is not revived.
    const { kind } = this.state;
    if (this.#isPast(until) || kind === 'lost' || kind === 'stopped') return 'failed';
    this.#renewed = before.monotonic;
    if (kind === 'leading') this.#state = { kind, until };
    else this.#enter({ kind: 'leading', until });
    return 'held';
  }

  /** Empties the Lease if it is still ours, so that others need not wait for its end. Failing that, they wait. */
  async #giveBack(): Promise<void> {
    const { signal } = new AbortController();
    for (let attempt = 0; attempt < 2; attempt++) {
      await this.#look(signal);
      const { lease, isOurs } = this.#sighting;
      if (lease === undefined || !isOurs) return;
      const claim = { holder: '', duration: 1000, now: this.#options.clock.wall() };
      const reply = await this.#client.claim(lease, claim, this.#patience(signal));
      if (reply.kind === 'failed') this.#fail(reply);
      if (reply.kind !== 'conflict') return;
    }
  }

  #see({ lease }: LeaseReply & { readonly kind: 'lease' }): void {
    this.#sighting.see(lease, this.#options.clock.monotonic());
    if (this.#state.kind === 'standby' && !this.#sighting.isOurs) {
      this.#enter({ kind: 'standby', holder: this.#sighting.holder });
    }
  }

  #isKnownFree(): boolean {
    const isKnown = this.#sighting.lease !== undefined;
    return isKnown && this.#options.clock.monotonic() >= this.#sighting.freeAt();
  }

  #isPast(until: LeaseEnd): boolean {
    const { clock } = this.#options;
    return clock.monotonic() >= until.monotonic || clock.wall() >= until.wall;
  }

  /** Until the renew deadline, in ms. */
  #timeLeft(): number {
    return this.#renewed + this.#timings.renewDeadline - this.#options.clock.monotonic();
  }

  /** Leaves room for a second attempt before the deadline, and never goes beyond it. */
  #patience(signal: AbortSignal): Patience {
    const half = this.#timings.renewDeadline / 2;
    const timeoutMs = this.#state.kind === 'leading' ? Math.max(1, Math.min(half, this.#timeLeft())) : half;
    return { timeoutMs, signal };
  }

  #ourClaim(): LeaseClaim {
    const { identity, clock } = this.#options;
    return { holder: identity, duration: this.#timings.leaseDuration, now: clock.wall() };
  }

  #lose(reason: string): void {
    if (this.#state.kind === 'leading') this.#enter({ kind: 'lost', reason });
  }

  #fail(reply: Exclude<LeaseReply, { readonly kind: 'lease' }>): Attempt {
    const problem = problemOf(reply, this.#options.namespace);
    if (problem.kind !== this.#problem?.kind) this.#call(() => this.#options.onProblem?.(problem));
    this.#problem = problem;
    return 'failed';
  }

  #enter(state: Leadership): void {
    const before = this.#state;
    this.#state = state;
    const isSame = state.kind === 'standby' && before.kind === 'standby' && state.holder === before.holder;
    if (!isSame) this.#call(() => this.#options.onChange?.(state));
  }

  #call(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.onBug(error);
    }
  }
}

function problemOf(reply: Exclude<LeaseReply, { readonly kind: 'lease' }>, namespace: string): Refusal {
  if (reply.kind === 'failed') return reply.problem;
  if (reply.kind === 'conflict') return { kind: 'conflict', message: 'the lease was changed in between' };
  return { kind: 'gone', message: `there is no namespace ${namespace} for the lease` };
}
