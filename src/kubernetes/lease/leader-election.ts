// Elects one leader through a Lease. It never claims leadership past the end of its own lease. It computes that end
// from before the renewal request was sent, on both clocks, and checks it on every read.
//
// Never delete the Lease of a running leader: a process that starts now finds no Lease and takes over at once. Only
// processes that saw the old Lease wait for its end.
import { sleep } from '../../runtime/clock.ts';
import type { ApiRefusal } from '../transport/api-reply.ts';
import { textAt } from '../../runtime/json.ts';
import { LinkedAbort } from '../transport/linked-abort.ts';
import { LeaseAnnotations } from './lease-annotations.ts';
import { LeaseClient, type LeaseReply, type Patience } from './lease-client.ts';
import { annotationOf, type LeaseClaim, type LeaseEnd, renewTimeOf } from './lease-record.ts';
import { LeaseSighting } from './lease-sighting.ts';
import { checkedLeaseTimings, jitterFactor, type LeaseTimings } from './lease-timings.ts';
import { SentClaims } from './sent-claims.ts';
import type { ClientPorts } from '../transport/transport.ts';

export interface LeaderElectionOptions {
  readonly namespace: string;
  readonly name: string;
  /** Unique for each process and each start. */
  readonly identity: string;
  /** Default: `defaultLeaseTimings`. */
  readonly timings?: Partial<LeaseTimings>;
  /** Called when the kind of state changes, and on standby when the holder changes. */
  readonly onChange?: (state: Leadership) => void;
  /** Called once for each run of failures of the same kind. */
  readonly onProblem?: (problem: ApiRefusal) => void;
}

export type Leadership =
  /** Another process leads, or none does and we try to acquire the lease. */
  | { readonly kind: 'standby'; readonly holder: string | undefined }
  | { readonly kind: 'leading'; readonly until: LeaseEnd }
  /** Final: everything started as leader must stop. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** The lease was released. */
  | { readonly kind: 'stopped' };

/**
 * Minimum time left for a renewal, in ms, and margin before the end of the lease. A later answer would be useless, and
 * its effect would only delay other candidates.
 */
const minTryTime = 50;

/** The result of an attempt: we hold the lease, another process does, or the outcome is unknown. */
type Attempt = 'held' | 'another' | 'failed';

export class LeaderElection {
  readonly #ports: ClientPorts;
  readonly #options: LeaderElectionOptions;
  readonly #timings: LeaseTimings;
  readonly #client: LeaseClient;
  readonly #sighting: LeaseSighting;
  readonly #annotations: LeaseAnnotations;
  #state: Leadership = { kind: 'standby', holder: undefined };
  /** When the last attempt to acquire or renew began, in monotonic ms. */
  #attempted = -Infinity;
  /** When the attempts since the last success end, in monotonic ms; undefined before the first of them. */
  #deadline: number | undefined;
  readonly #sent: SentClaims;
  /** Whether the Lease may name us as holder. */
  #claimed = false;
  #problem: ApiRefusal | undefined;
  #isInherited = false;
  #isSuccessor: boolean | undefined;

  /**
   * `ports`: the transport has connections of its own, because a renewal must not queue behind other requests. Throws
   * LEASE_TIMINGS_INVALID.
   */
  constructor(ports: ClientPorts, options: LeaderElectionOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#timings = checkedLeaseTimings(options.timings ?? {});
    this.#client = new LeaseClient(ports.transport, options.namespace, options.name);
    this.#sighting = new LeaseSighting(options.identity, this.#timings.leaseDuration);
    this.#sent = new SentClaims(this.#timings.leaseDuration);
    this.#annotations = new LeaseAnnotations(2 * this.#timings.retryPeriod);
  }

  /** The state at this instant. */
  get state(): Leadership {
    if (this.#state.kind === 'leading' && this.#isPast(this.#state.until)) {
      this.#lose(
        'the lease ended before it was renewed: the process was stopped or starved, or a clock was set',
      );
    }
    return this.#state;
  }

  /** Why the last read, acquisition or renewal of the Lease failed; undefined after a success. */
  get problem(): ApiRefusal | undefined {
    return this.#problem;
  }

  /**
   * The end of our own lease; undefined unless we lead at this instant. Anything that must not overlap with another
   * leader must finish before it.
   */
  leaseEnd(): LeaseEnd | undefined {
    const { state } = this;
    return state.kind === 'leading' ? state.until : undefined;
  }

  /** The annotation under this key when the Lease was last seen. */
  annotation(key: string): string | undefined {
    const { lease } = this.#sighting;
    return lease && annotationOf(lease, key);
  }

  /** Whether the lease of the former leader ended before it was released: a write of that process may still be under way. */
  get isInherited(): boolean {
    return this.#isInherited;
  }

  /** Whether the Lease existed before this process first claimed it: a call of another one may still take effect. */
  get isSuccessor(): boolean {
    return this.#isSuccessor === true;
  }

  /** Sets this annotation from the next renewal on, while we lead; undefined removes it. */
  annotate(key: string, text: string | undefined): void {
    this.#annotations.want(key, text);
  }

  /** The uid of the Lease when it was last seen. */
  get uid(): string | undefined {
    const { lease } = this.#sighting;
    return lease && textAt(lease.raw, 'metadata', 'uid');
  }

  /**
   * Waits for leadership and keeps it. Resolves with `lost` when leadership is lost. Resolves with `stopped` after
   * `signal` aborts and the lease is released. Abort `signal` only when no work in flight needs leadership. Call it
   * once.
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
    if (this.#claimed) await this.#release();
    return 'stopped';
  }

  /** Lets the Lease expire: work in flight that needs leadership may still take effect. */
  keepLease(): void {
    this.#claimed = false;
  }

  async #standBy(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#ports;
    for (;;) {
      const attempt = await this.#tryToAcquire(signal);
      // An answer may grant the lease at the moment at which another one ends the attempt.
      if (this.#state.kind !== 'standby') return;
      if (attempt === 'another') this.#problem = undefined;
      const retry = this.#timings.retryPeriod * (1 + random.next() * (jitterFactor - 1));
      // Wake when the other lease expires, not one retry period later.
      const untilFree = this.#sighting.freeAt() - clock.monotonic();
      await sleep(clock, untilFree > 0 ? Math.min(retry, untilFree) : retry, signal);
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const { retryPeriod, renewDeadline } = this.#timings;
    while (this.state.kind === 'leading') {
      const due = Math.min(this.#attempted + retryPeriod, this.#deadline ?? Infinity);
      await sleep(clock, Math.max(0, due - clock.monotonic()), signal);
      const { state } = this;
      if (state.kind !== 'leading') return;
      const now = clock.monotonic();
      this.#deadline ??= Math.min(now + renewDeadline, state.until.monotonic - minTryTime);
      if (this.#deadline - now < minTryTime) this.#lose(this.#whyNotRenewed(state.until));
      else if ((await this.#renew(signal)) === 'another') {
        this.#lose(`${this.#sighting.holder ?? 'another process'} has taken the lease`);
      }
    }
  }

  #whyNotRenewed(until: LeaseEnd): string {
    const renewed = until.monotonic - this.#timings.leaseDuration;
    const seconds = (this.#ports.clock.monotonic() - renewed) / 1000;
    return `could not renew the lease for ${Math.round(seconds)} s`;
  }

  async #tryToAcquire(signal: AbortSignal): Promise<Attempt> {
    if (!this.#isKnownFree()) {
      const outcome = await this.#readLease(signal);
      if (outcome === 'held' || (outcome === 'failed' && !this.#isKnownFree())) return outcome;
    }
    if (this.#ports.clock.monotonic() < this.#sighting.freeAt()) return 'another';
    this.#isSuccessor ??= this.#sighting.isKnown;
    // Once it is ours, an earlier claim without an answer was granted.
    if (!this.#sighting.isOurs) this.#isInherited = this.#sighting.freeAt() > -Infinity;
    const attempt = await this.#claim(signal);
    // Another process was faster. Read its lease to know how long to wait.
    return attempt === 'another' ? this.#readLease(signal) : attempt;
  }

  /** A conflict may come from our own earlier request whose answer was lost. Only the Lease shows who holds it. */
  async #renew(signal: AbortSignal): Promise<Attempt> {
    const attempt = await this.#claim(signal);
    if (attempt !== 'another') return attempt;
    const outcome = await this.#readLease(signal);
    if (outcome !== 'another') return outcome;
    if (!this.#sighting.isOurs && !this.#sighting.isMissing) return 'another';
    return (await this.#claim(signal)) === 'held' ? 'held' : 'failed';
  }

  /** A write of ours that the Lease shows counts as if its answer had arrived. */
  async #readLease(signal: AbortSignal): Promise<Attempt> {
    const { timeoutMs } = this.#patience(signal);
    // A leader needs time for a write after it.
    const share = this.#state.kind === 'leading' ? 2 : 1;
    const reply = await this.#client.read({ timeoutMs: timeoutMs / share, signal });
    signal.throwIfAborted();
    if (reply.kind === 'missing') this.#sighting.miss(this.#ports.clock.monotonic());
    if (reply.kind === 'missing') return 'another';
    if (reply.kind !== 'lease') return this.#fail(reply);
    this.#see(reply);
    const sent = this.#sighting.isOurs ? this.#sent.at(reply.lease.renewTime) : undefined;
    return sent === undefined ? 'another' : this.#hold(sent);
  }

  async #claim(signal: AbortSignal): Promise<Attempt> {
    const attempt = new LinkedAbort(signal);
    this.#attempted = this.#ports.clock.monotonic();
    try {
      return await this.#writeUntilCarriedOut(attempt.signal);
    } finally {
      attempt.abort();
    }
  }

  #writeUntilCarriedOut(signal: AbortSignal): Promise<Attempt> {
    return Promise.race([this.#write(signal), this.#attendLateWrite(signal)]);
  }

  /**
   * Reads the Lease beside a write whose answer is late, and writes once more if that shows it was not carried out. The API
   * server carries out one of them at most: all are bound to the same state.
   */
  async #attendLateWrite(signal: AbortSignal): Promise<Attempt> {
    const { clock } = this.#ports;
    for (;;) {
      await sleep(clock, this.#timings.retryPeriod, signal);
      const outcome = await this.#readLease(signal);
      if (outcome === 'failed') continue;
      if (outcome === 'held') return 'held';
      if (clock.monotonic() < this.#sighting.freeAt()) return 'another';
      this.#annotations.failed({ kind: 'unavailable' }, clock.monotonic());
      return this.#writeUntilCarriedOut(signal);
    }
  }

  /** Creates the Lease if none exists, else overwrites the state last seen. */
  async #write(signal: AbortSignal): Promise<Attempt> {
    const { clock } = this.#ports;
    const { lease } = this.#sighting;
    const before = { monotonic: clock.monotonic(), wall: clock.wall() };
    const patience = this.#patience(signal);
    const claim = this.#claimOf(this.#options.identity, this.#timings.leaseDuration);
    this.#claimed = true;
    this.#sent.add(renewTimeOf(lease, claim), before);
    const reply =
      lease === undefined
        ? await this.#client.create(claim, patience)
        : await this.#client.claim(lease, claim, patience);
    // Another request has decided the attempt meanwhile.
    signal.throwIfAborted();
    this.#noteAnnotations(claim, reply);
    if (reply.kind === 'lease') {
      this.#see(reply);
      return this.#hold(before);
    }
    if (reply.kind === 'conflict') return 'another';
    if (reply.kind === 'missing' && lease !== undefined) {
      this.#sighting.miss(this.#ports.clock.monotonic());
      return 'another';
    }
    return this.#fail(reply);
  }

  /** The API server carried out a write that was sent at `sent`, so its record ends no earlier than ours. */
  #hold(sent: LeaseEnd): Attempt {
    const { leaseDuration } = this.#timings;
    const until = { monotonic: sent.monotonic + leaseDuration, wall: sent.wall + leaseDuration };
    this.#problem = undefined;
    this.#sent.forget(sent.monotonic);
    // A late answer grants no lease, and a lease that expired meanwhile is not revived.
    const { kind } = this.state;
    if (this.#isPast(until) || kind === 'lost' || kind === 'stopped') return 'failed';
    this.#deadline = undefined;
    if (kind === 'leading') this.#state = { kind, until };
    else this.#enter({ kind: 'leading', until });
    return 'held';
  }

  /**
   * Clears the holder if the lease is still ours, so that others acquire it at once. If that fails, they wait for its
   * end.
   */
  async #release(): Promise<void> {
    const { signal } = new AbortController();
    for (let attempt = 0; attempt < 2; attempt++) {
      await this.#readLease(signal);
      const { lease, isOurs } = this.#sighting;
      if (lease === undefined || !isOurs) return;
      const claim = this.#claimOf('', 1000);
      const reply = await this.#client.claim(lease, claim, this.#patience(signal));
      this.#noteAnnotations(claim, reply);
      if (reply.kind === 'failed') this.#fail(reply);
      if (reply.kind !== 'conflict') return;
    }
  }

  #see({ lease }: LeaseReply & { readonly kind: 'lease' }): void {
    this.#sighting.see(lease, this.#ports.clock.monotonic());
    if (this.#state.kind === 'standby' && !this.#sighting.isOurs) {
      this.#enter({ kind: 'standby', holder: this.#sighting.holder });
    }
  }

  #isKnownFree(): boolean {
    const isKnown = this.#sighting.lease !== undefined;
    return isKnown && this.#ports.clock.monotonic() >= this.#sighting.freeAt();
  }

  #isPast(until: LeaseEnd): boolean {
    const { clock } = this.#ports;
    return clock.monotonic() >= until.monotonic || clock.wall() >= until.wall;
  }

  /** A leader's request may take all of the time left; on the way out, the process does not wait as long. */
  #patience(signal: AbortSignal): Patience {
    const { renewDeadline } = this.#timings;
    const now = this.#ports.clock.monotonic();
    if (this.#state.kind === 'leading') {
      const left = (this.#deadline ?? now + renewDeadline) - now;
      return { timeoutMs: Math.max(1, left), signal };
    }
    return { timeoutMs: this.#state.kind === 'standby' ? renewDeadline : renewDeadline / 2, signal };
  }

  #claimOf(holder: string, duration: number): LeaseClaim {
    const { clock } = this.#ports;
    const annotations = this.#annotations.changesTo(this.#sighting.lease, clock.monotonic());
    return { holder, duration, now: clock.wall(), ...(annotations !== undefined && { annotations }) };
  }

  #noteAnnotations({ annotations }: LeaseClaim, reply: LeaseReply): void {
    if (annotations === undefined || reply.kind !== 'failed') return;
    this.#annotations.failed(reply.problem, this.#ports.clock.monotonic());
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
      this.#ports.onBug(error);
    }
  }
}

function problemOf(reply: Exclude<LeaseReply, { readonly kind: 'lease' }>, namespace: string): ApiRefusal {
  if (reply.kind === 'failed') return reply.problem;
  if (reply.kind === 'conflict') return { kind: 'conflict', message: 'the lease was changed in between' };
  return { kind: 'gone', message: `there is no namespace ${namespace} for the lease` };
}
