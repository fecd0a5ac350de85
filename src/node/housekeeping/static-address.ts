// Associates a static public address with a node's primary interface if its tags ask for one. Agents from 1.20 on do not
// start without it (docs/ciliumnode-contract.md 1.6). Its failures never keep addresses from pods. An associated address
// stays.
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { isWorthReporting, mayConcern, policyOf } from '../../providers/contract/failure-policy.ts';
import { type InstanceView, primaryInterface } from '../../providers/contract/facts.ts';
import type { InstancePort } from '../../providers/contract/cloud.ts';
import type { Outcome } from '../../providers/contract/operations.ts';
import type { Tags, PublicAddress } from '../../providers/contract/network-interface.ts';
import type { Caller, Priority } from '../../providers/contract/priority.ts';
import type { PermittedNode } from '../../providers/gate/mutation-permission.ts';
import type {
  EndOfClaim,
  PublicAddressClaim,
  PublicAddressPool,
} from '../../providers/catalog/public-address-pool.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { type Requeue, requeueAt } from '../../runtime/requeue.ts';
import type { TaskRuntime } from '../../runtime/task-group.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { NodeCondition } from '../conditions/node-condition.ts';
import { impossibleStaticIp, missingStaticIp, staticIpFailure } from '../conditions/static-ip-condition.ts';

/** The primary interface received a public address. */
export interface AddressAssociated {
  readonly kind: 'staticAddress';
  readonly publicAddress: string;
  readonly interfaceId: string;
}

export interface StaticAddressNode extends Omit<InstancePort, 'invalidate'>, PermittedNode {
  /** The tags that the node asks for and its instance view; undefined while the node is not served. */
  forStaticAddress(): StaticAddressFacts | undefined;
  /** The interface that is being changed; undefined once that has ended. */
  associating: string | undefined;
  tell(event: AddressAssociated): void;
}

export interface StaticAddressFacts {
  readonly tags: Tags;
  readonly view: InstanceView;
  /** Whether addresses can be associated in this cloud. */
  readonly isPossible: boolean;
  /** Whether the agent may wait for the address and not start before. */
  readonly isAwaited: boolean;
  /** Whether another change is under way, or about to be, that excludes this one. */
  readonly isBusy: boolean;
}

const policy = { base: 2000, cap: 300_000 };
const subject = 'static address';

/** The missing association. */
interface MissingAddress {
  readonly interfaceId: string;
  readonly tags: Tags;
}

export interface StaticAddressStep extends Requeue {
  /** The association that is missing now; undefined if none is. */
  readonly missing: MissingAddress | undefined;
}

type Claimed = PublicAddressClaim & { kind: 'claimed' };

export class StaticAddress implements Caller {
  readonly #node: StaticAddressNode;
  readonly #runtime: TaskRuntime;
  readonly #publicAddresses: Pick<PublicAddressPool, 'claim'>;
  #missing: MissingAddress | undefined;
  /** An association whose answer was lost. Repeating it with the same address changes nothing. */
  #unanswered: Claimed | undefined;
  readonly #backoff: Backoff;
  #failure: NodeCondition | undefined;
  #impossible: NodeCondition | undefined;
  #isAwaited = false;

  constructor(
    node: StaticAddressNode,
    runtime: TaskRuntime,
    publicAddresses: Pick<PublicAddressPool, 'claim'>,
  ) {
    this.#node = node;
    this.#runtime = runtime;
    this.#publicAddresses = publicAddresses;
    this.#backoff = new Backoff(policy, runtime);
  }

  /** Its calls pass others only while an agent may wait for the address. */
  get priority(): Priority {
    return this.#isAwaited ? 'high' : 'housekeeping';
  }

  /** Starts what is missing, one attempt at a time, if permitted. */
  step(now: number): StaticAddressStep {
    const facts = this.#node.forStaticAddress();
    this.#impossible = undefined;
    this.#isAwaited = facts?.isAwaited === true;
    if (facts === undefined) {
      if (this.#missing !== undefined) this.#reset(undefined);
      return { missing: undefined };
    }
    const { words } = this.#node.implementation.section;
    if (!facts.isPossible) this.#impossible = impossibleStaticIp(words);
    const missing = missingIn(facts);
    if (this.#node.refusal('allocate') !== undefined) return { missing };
    if (JSON.stringify(missing) !== JSON.stringify(this.#missing)) this.#reset(missing);
    if (missing !== undefined && !facts.isBusy) this.#begin(missing);
    return { missing, ...requeueAt([this.#backoff.until], now) };
  }

  #begin(missing: MissingAddress): void {
    const { tasks } = this.#runtime;
    const backOff = (): number => this.#backoff.fail();
    if (tasks.isAbout(subject) || this.#backoff.isPausing) return;
    tasks.beginTask(() => this.#attempt(missing), subject, backOff);
  }

  /** Why the node lacks the address it asks for: a condition while its agent may wait for it, and else a warning. */
  get problem(): {
    readonly condition?: NodeCondition | undefined;
    readonly warning?: NodeCondition | undefined;
  } {
    const problem = this.#impossible ?? this.#failure;
    return this.#isAwaited ? { condition: problem } : { warning: problem };
  }

  /** Call it once the tasks have ended. */
  close(): void {
    this.#reset(undefined);
  }

  #reset(missing: MissingAddress | undefined): void {
    this.#missing = missing;
    this.#unanswered?.settle('taken');
    this.#unanswered = undefined;
    this.#failure = undefined;
    this.#backoff.forget();
  }

  async #attempt({ tags, interfaceId }: MissingAddress): Promise<void> {
    const wish = { tags, interfaceId, caller: this };
    const claim = this.#unanswered ?? (await this.#publicAddresses.claim(wish, this.#runtime.tasks.closing));
    switch (claim.kind) {
      case 'claimed':
        return this.#associate(claim, interfaceId);
      case 'held':
        // A listing shows it; a refresh of the instance decides.
        this.#backoff.fail();
        return this.#refresh();
      case 'failed':
        this.#failure = staticIpFailure(claim.failure);
        return this.#backoff.pauseUntil(claim.retryAt);
      case 'noneMatches':
      case 'noneFree':
        this.#failure = missingStaticIp(claim.kind, tags, this.#node.implementation.section.words);
        return this.#backoff.pauseUntil(claim.retryAt);
    }
  }

  async #associate(claim: Claimed, interfaceId: string): Promise<void> {
    // An earlier request without an answer may have succeeded.
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
      this.#node.applyAnswer(outcome.answer);
      if (outcome.answer.kind === 'staticIPAssociated') {
        const { publicAddress } = outcome.answer;
        this.#node.tell({ kind: 'staticAddress', publicAddress, interfaceId });
      }
      return;
    }
    this.#learnFromFailure(outcome.failure);
    const isStale = policyOf(outcome.failure).invalidates === 'existence';
    if (end === 'open' || isStale) await this.#refresh();
  }

  /** Undefined if the association turned out to be no longer missing. */
  async #ask(address: PublicAddress, interfaceId: string): Promise<Outcome | undefined> {
    const node = this.#node;
    const { implementation, instanceId } = node;
    const { closing: signal, deadline } = this.#runtime.tasks;
    const refund = await implementation.admit(['associateStaticIP'], { caller: this, signal, instanceId });
    // The wait may have been long.
    const facts = node.forStaticAddress();
    if (signal.aborted || facts?.isBusy !== false || missingIn(facts)?.interfaceId !== interfaceId) {
      refund();
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
    node.associating = interfaceId;
    try {
      return await implementation.perform(operation, { caller: this, signal: deadline });
    } finally {
      node.associating = undefined;
    }
  }

  /** A refresh takes as long as the cloud cannot be reached: `stop` does not wait for it. */
  #refresh(): Promise<void> {
    return raceAbort(this.#node.refresh(), this.#runtime.tasks.closing);
  }

  #learnFromFailure(failure: CloudFailure): void {
    // Another party took the address: try the next one at once.
    if (failure.kind === 'conflict' && mayConcernAddress(failure)) return;
    this.#backoff.fail();
    if (isWorthReporting(failure, this.#backoff.failures)) this.#failure = staticIpFailure(failure);
  }
}

function missingIn({ tags, view, isPossible }: StaticAddressFacts): MissingAddress | undefined {
  const primary = isPossible ? primaryInterface(view) : undefined;
  if (primary === undefined || primary.publicAddress !== undefined) return undefined;
  return { interfaceId: primary.id, tags };
}

/** The end of the claim: `open` while an answer is missing. */
type End = EndOfClaim | 'open';

function endOf(outcome: Outcome): End {
  if (outcome.kind === 'done') return 'taken';
  if (outcome.kind === 'ambiguous') return 'open';
  // The next attempt tries another address.
  return mayConcernAddress(outcome.failure) ? 'refused' : 'free';
}

function mayConcernAddress(failure: CloudFailure): boolean {
  return failure.about === undefined && mayConcern(failure, 'thing');
}
