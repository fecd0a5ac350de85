// Sees to it that a node whose tags ask for a static public address has one on its primary interface. It works beside
// everything else and waits behind it: its failures never keep addresses from pods. What was associated stays.
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { Tags } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import type { Outcome } from '../providers/operation.ts';
import type { PublicAddress } from '../providers/public-address.ts';
import type { PublicAddressClaim, PublicAddressPool } from '../providers/public-address-pool.ts';
import { BegunWork } from '../scheduling/begun-work.ts';
import type { BackoffPolicy } from '../scheduling/exponential-backoff.ts';
import { FailureStreak } from '../scheduling/failure-streak.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import { type Diagnosis, missingStaticIp, staticIpFailure } from './diagnosis.ts';
import { primaryInterface } from './primary-interface.ts';

export interface StaticAddressDeps {
  readonly instanceId: string;
  readonly implementation: Pick<AllocationImplementation, 'admit' | 'perform'>;
  readonly publicAddresses: Pick<PublicAddressPool, 'claim'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The tags that the node asks for now, and what is known of its instance; undefined while it is not served. */
  readonly facts: () => StaticAddressFacts | undefined;
  readonly fold: (answer: Answer) => void;
  readonly look: () => Promise<void>;
  /** To be called back through `evaluate`. */
  readonly wake: () => void;
  readonly onAssociated: (publicAddress: string, interfaceId: string) => void;
  readonly onBug: (error: unknown) => void;
}

export interface StaticAddressFacts {
  readonly tags: Tags;
  readonly view: InstanceView;
}

const policy: BackoffPolicy = { base: 2000, cap: 300_000 };
const urgency = (): 'housekeeping' => 'housekeeping';

/** What the node lacks. */
interface Lack {
  readonly interfaceId: string;
  readonly tags: Tags;
}

type Claimed = PublicAddressClaim & { kind: 'claimed' };

export class StaticAddress {
  readonly #deps: StaticAddressDeps;
  readonly #work: BegunWork;
  #lacking: Lack | undefined;
  /** An association whose answer got lost: repeated with the same address it changes nothing. */
  #unanswered: Claimed | undefined;
  readonly #streak: FailureStreak;
  #pauseUntil = -Infinity;
  #cancelTimer: () => void = () => undefined;
  #remark: Diagnosis | undefined;

  constructor(deps: StaticAddressDeps) {
    this.#deps = deps;
    this.#streak = new FailureStreak(policy, deps);
    this.#work = new BegunWork({
      clock: deps.clock,
      onBug: (error) => {
        deps.onBug(error);
        this.#backOff();
      },
      onEnd: deps.wake,
    });
  }

  /** Begins what is lacking, one attempt at a time. */
  evaluate(): void {
    if (this.#work.isClosing) return;
    const lack = this.#lack();
    if (!isSame(lack, this.#lacking)) this.#reset(lack);
    if (lack === undefined || !this.#work.isIdle) return;
    if (this.#deps.clock.monotonic() < this.#pauseUntil) return;
    this.#work.begin(() => this.#attempt(lack));
  }

  /** Why the node does not have the address that it asks for; undefined when it does, or asks for none. */
  get remark(): Diagnosis | undefined {
    return this.#remark;
  }

  /** No call begins any more; resolves once the one that was begun has ended, which `deadline` cuts short. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#work.stop(deadline);
    this.#reset(undefined);
  }

  #lack(): Lack | undefined {
    const { tags = {}, view } = this.#deps.facts() ?? {};
    if (view === undefined || Object.keys(tags).length === 0) return undefined;
    const primary = primaryInterface(view);
    if (primary === undefined || primary.publicAddress !== undefined) return undefined;
    return { interfaceId: primary.id, tags };
  }

  #reset(lack: Lack | undefined): void {
    this.#lacking = lack;
    this.#unanswered?.settle('taken');
    this.#unanswered = undefined;
    this.#remark = undefined;
    this.#streak.forget();
    this.#pauseUntil = -Infinity;
    this.#cancelTimer();
  }

  async #attempt({ tags, interfaceId }: Lack): Promise<void> {
    const { publicAddresses, look } = this.#deps;
    const claim = this.#unanswered ?? (await publicAddresses.claim(tags, interfaceId, this.#work.closing));
    switch (claim.kind) {
      case 'claimed':
        return this.#associate(claim, interfaceId);
      case 'held':
        // A listing shows it; the instance itself decides.
        this.#backOff();
        return look();
      case 'failed':
        this.#remark = staticIpFailure(claim.failure);
        return this.#pause(claim.retryAt);
      case 'noneMatches':
      case 'noneFree':
        this.#remark = missingStaticIp(claim.kind, tags);
        return this.#pause(claim.retryAt);
    }
  }

  async #associate(claim: Claimed, interfaceId: string): Promise<void> {
    // What was asked for once may have been given.
    let end: End = this.#unanswered === undefined ? 'free' : 'taken';
    this.#unanswered = undefined;
    let outcome: Outcome | undefined;
    try {
      outcome = await this.#ask(claim.address, interfaceId);
      if (outcome !== undefined) end = endOf(outcome);
    } finally {
      if (end === 'open') this.#unanswered = claim;
      else claim.settle(end);
    }
    if (outcome === undefined) return;
    if (outcome.kind === 'done') {
      this.#deps.fold(outcome.answer);
      this.#deps.onAssociated(claim.address.address, interfaceId);
      return;
    }
    this.#learn(outcome.failure);
    if (end === 'open' || unclearAfter.has(outcome.failure.kind)) await this.#deps.look();
  }

  /** Undefined when it turned out that nothing is lacking any more. */
  async #ask(address: PublicAddress, interfaceId: string): Promise<Outcome | undefined> {
    const { implementation, instanceId } = this.#deps;
    const { closing: signal, deadline } = this.#work;
    const giveBack = await implementation.admit(['associateStaticIP'], { urgency, signal });
    // The wait may have been long.
    if (signal.aborted || this.#lack()?.interfaceId !== interfaceId) {
      giveBack();
      return undefined;
    }
    const { id: addressId, address: publicAddress } = address;
    const operation = {
      kind: 'associateStaticIP',
      instanceId,
      interfaceId,
      addressId,
      publicAddress,
    } as const;
    return implementation.perform(operation, { urgency, signal: deadline });
  }

  #learn(failure: CloudFailure): void {
    // Somebody else took it: the next one is tried at once.
    if (failure.kind === 'conflict') return;
    this.#backOff();
    if (this.#streak.failures > 1 || failure.kind === 'notAuthorized')
      this.#remark = staticIpFailure(failure);
  }

  #backOff(): void {
    this.#streak.fail();
    this.#pause(this.#streak.until);
  }

  #pause(until: number): void {
    const { clock, wake } = this.#deps;
    this.#pauseUntil = until;
    this.#cancelTimer();
    this.#cancelTimer = this.#work.later(until - clock.monotonic(), wake);
  }
}

/** What becomes of the claim: `open` while an answer is missing. */
type End = 'free' | 'taken' | 'open';

function endOf(outcome: Outcome): End {
  if (outcome.kind === 'done') return 'taken';
  if (outcome.kind === 'ambiguous') return 'open';
  return ofTheAddress.has(outcome.failure.kind) ? 'taken' : 'free';
}

/** Failures that may be the address's own: the next attempt tries another. */
const ofTheAddress: ReadonlySet<CloudFailure['kind']> = new Set(['conflict', 'invalid', 'unknown']);

/** Failures that say that the instance is not as it is thought to be. */
const unclearAfter: ReadonlySet<CloudFailure['kind']> = new Set(['instanceGone', 'interfaceGone']);

function isSame(a: Lack | undefined, b: Lack | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
