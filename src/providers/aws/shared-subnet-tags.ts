// Reads the tags of subnets that another account shares with ours (AWS RAM): only their owner sees them, so a role of that account
// reads them. It tells nothing but tags: even the names of zones may be others there.
import type { Clock } from '../../runtime/clock.ts';
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure, unreadable } from '../contract/cloud-failure.ts';
import type { CallGate } from '../gate/call-gate.ts';
import type { CloudCall } from '../gate/cloud-call.ts';
import type { Ec2Action, Ec2Api, Ec2Subnet, Tag } from './ec2-api.ts';
import { Ec2Client } from './ec2-client.ts';

/** A role that Headwater assumes. */
export interface AssumedRole {
  readonly arn: string;
  /** The external id that its trust policy requires. */
  readonly externalId: string | undefined;
}

/** The account in the ARN of a role. */
export function accountOf({ arn }: Pick<AssumedRole, 'arn'>): string {
  return arn.split(':')[4] ?? '';
}

/** A client whose calls spend from the limits of another account. */
export class OtherAccountClient extends Ec2Client {
  readonly #account: string;

  constructor(api: Ec2Api, gate: CallGate, account: string) {
    super(api, gate);
    this.#account = account;
  }

  protected override callOf(action: Ec2Action): CloudCall {
    return { ...super.callOf(action), limits: [{ name: limitOf(action, this.#account) }] };
  }
}

/** The name of a limit of another account: reports show it beside our own. */
export function limitOf(action: Ec2Action, account: string): string {
  return `${action}@${account}`;
}

/** A failure of a call with the role, which says whom it concerns. */
export function failureOfRole(failure: CloudFailure, { arn }: Pick<AssumedRole, 'arn'>): CloudFailure {
  const { permission, message } = failure;
  const lackedBy =
    permission === 'sts:AssumeRole'
      ? `Headwater's role, in its own policy and in the trust policy of ${arn}, or correct --network-account-role-arn or --network-account-external-id`
      : arn;
  return {
    ...failure,
    message: message.includes(arn) ? message : `${message} (with ${arn})`,
    ...(permission !== undefined && { lackedBy }),
  };
}

export interface TaggedSubnets {
  readonly subnets: readonly Ec2Subnet[];
  /** Subnets whose tags were never read, and why. */
  readonly unread: ReadonlyMap<string, CloudFailure>;
  /** Why tags could not be read this time; undefined if they were, or if no subnet is shared. */
  readonly failure?: CloudFailure;
}

/** Our own network waits for the tags of others: how long in all, in ms, be it for an answer or for their rate limits. */
const maxWait = 10_000;

export class SharedSubnetTags {
  readonly role: Pick<AssumedRole, 'arn'>;
  readonly client: Ec2Client;
  readonly #pageSize: number;
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #subnetIds: readonly string[];
  /** By subnet, as its owner showed them last. */
  readonly #known = new Map<string, readonly Tag[]>();
  #lastRead: 'none' | 'answered' | 'failed' = 'none';

  /** `subnetIds`: the only subnets to use; empty for all. */
  constructor(
    client: Ec2Client,
    role: Pick<AssumedRole, 'arn'>,
    {
      pageSize,
      clock,
      subnetIds = [],
    }: {
      readonly pageSize: number;
      readonly clock: Pick<Clock, 'schedule'>;
      readonly subnetIds?: readonly string[];
    },
  ) {
    this.client = client;
    this.role = role;
    this.#pageSize = pageSize;
    this.#clock = clock;
    this.#subnetIds = subnetIds;
  }

  get account(): string {
    return accountOf(this.role);
  }

  /** Whether the last read was answered. */
  get lastRead(): 'none' | 'answered' | 'failed' {
    return this.#lastRead;
  }

  /**
   * Adds their owner's tags to subnets of its account. Tags that cannot be read, or that an answer does not show, are those read
   * last. Rejects only with the signal's reason, or with a bug.
   */
  async addTo(shown: readonly Ec2Subnet[], context: CallContext): Promise<TaggedSubnets> {
    const shared = shown.filter((subnet) => this.#isMeant(subnet));
    if (shared.length === 0) return { subnets: shown, unread: new Map() };
    const failure = await this.#read(shared, context);
    const subnets = shown.map((subnet) => (this.#isMeant(subnet) ? this.#tagged(subnet) : subnet));
    const unread = new Map(this.#unreadOf(shared, failure));
    const [first] = unread.values();
    const problem = failure ?? first;
    return { subnets, unread, ...(problem !== undefined && { failure: problem }) };
  }

  /** An answer that does not show a subnet says nothing about its tags. */
  #unreadOf(
    shared: readonly Ec2Subnet[],
    failure: CloudFailure | undefined,
  ): readonly (readonly [id: string, failure: CloudFailure])[] {
    return shared.flatMap(({ SubnetId: id }) => {
      if (id === undefined || this.#known.has(id)) return [];
      const { failure: notShown } = unreadable('DescribeSubnets', `the answer does not show ${id}`);
      return [[id, failure ?? failureOfRole(notShown, this.role)] as const];
    });
  }

  /** Whether it is of that account, and not left out by its id: no tags would make such a subnet usable. */
  #isMeant({ OwnerId, SubnetId = '' }: Ec2Subnet): boolean {
    const isAllowed = this.#subnetIds.length === 0 || this.#subnetIds.includes(SubnetId);
    return isAllowed && OwnerId === this.account;
  }

  /** Where both accounts set a key, the value of our own counts: it is meant for those who use the subnet. */
  #tagged(subnet: Ec2Subnet): Ec2Subnet {
    const { SubnetId: id = '', Tags: own = [] } = subnet;
    const keys = new Set(own.map(({ Key }) => Key));
    const added = (this.#known.get(id) ?? []).filter(({ Key }) => !keys.has(Key));
    return { ...subnet, Tags: [...own, ...added] };
  }

  async #read(shared: readonly Ec2Subnet[], context: CallContext): Promise<CloudFailure | undefined> {
    const networkIds = [...new Set(shared.flatMap(({ VpcId }) => VpcId ?? []))];
    const input = { Filters: [{ Name: 'vpc-id', Values: networkIds }], MaxResults: this.#pageSize };
    const tooLate = new AbortController();
    const cancel = this.#clock.schedule(maxWait, () => tooLate.abort(this.#lateness()));
    const within = { ...context, signal: AbortSignal.any([context.signal, tooLate.signal]) };
    try {
      const { items } = await this.client.list('DescribeSubnets', input, within);
      for (const subnet of items) {
        const { SubnetId: id, Tags: tags = [] } = subnet;
        if (id !== undefined && this.#isMeant(subnet)) this.#known.set(id, tags);
      }
      this.#lastRead = 'answered';
      return undefined;
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      this.#lastRead = 'failed';
      return error.failure;
    } finally {
      cancel();
    }
  }

  /** The failure of a read that still waits for its rate limits. */
  #lateness(): CloudError {
    const message = `the rate limits of account ${this.account} admit no call within ${maxWait / 1000} s`;
    return new CloudError({
      kind: 'throttled',
      action: 'DescribeSubnets',
      code: 'Timeout',
      message,
      requestId: undefined,
    });
  }
}
