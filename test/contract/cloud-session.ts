// What a process does with its cloud through the port alone, as the core does it.
import type {
  AllocationImplementation,
  CallContext,
  ObservedPage,
} from '../../src/providers/contract/cloud.ts';
import type { Observation } from '../../src/providers/contract/facts.ts';
import type {
  AllocateIPs,
  AllocateIpv6Prefix,
  AssociateStaticIP,
  CreateInterface,
  Outcome,
  ReleaseIPs,
} from '../../src/providers/contract/operations.ts';
import type { CloudFailureKind } from '../../src/providers/contract/cloud-failure.ts';
import type { NetworkInterface, Tags } from '../../src/providers/contract/network-interface.ts';
import type { CloudRig } from './cloud-rig.ts';

/** Longer than a lost request takes to arrive, and than an operation to end, in ms. */
const settling = 120_000;
/** After a failure that may pass, in ms. */
const pause = 30_000;
const passing: ReadonlySet<CloudFailureKind> = new Set([
  'throttled',
  'conflict',
  'unreachable',
  'unreadable',
]);

type Begun = AllocateIPs | AllocateIpv6Prefix | AssociateStaticIP | CreateInterface | ReleaseIPs;

export class CloudSession {
  readonly implementation: AllocationImplementation;
  readonly #rig: CloudRig;
  readonly #process = new AbortController();
  #operations = 0;

  constructor(rig: CloudRig) {
    this.#rig = rig;
    this.implementation = rig.compose();
  }

  /** Lets time pass until `work` has ended. */
  async ended<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => void (isDone = true);
    work.then(end, end);
    if (!(await this.#rig.clock.runUntil(() => isDone, 3_600_000)))
      throw new Error('it does not end within an hour');
    return work;
  }

  /** The pages of one read; rejects as the read does. */
  observe(instanceIds: readonly string[], kind: 'instances' | 'all' = 'instances'): Promise<Observed> {
    const { networkIds } = this.#rig;
    const scope = kind === 'all' ? { kind, networkIds, instanceIds } : { kind, instanceIds };
    return this.ended(observed(this.implementation.observe(scope, this.#context)));
  }

  /** The interface of an instance, as a read shows it. */
  async interfaceOf(instanceId: string): Promise<NetworkInterface> {
    const { interfaces } = await this.observe([instanceId]);
    const found = interfaces.find(({ attachment }) => attachment?.instanceId === instanceId);
    if (found === undefined) throw new Error(`no interface of ${instanceId} is shown`);
    return found;
  }

  async growth(instanceId: string, count: number): Promise<AllocateIPs> {
    const { id: interfaceId } = await this.interfaceOf(instanceId);
    const operationId = `${String(this.#operations++).padStart(8, '0')}-growth`;
    return { kind: 'allocateIPs', instanceId, interfaceId, count, operationId };
  }

  /** A release of the last `count` addresses of the interface. */
  async shrinkage(instanceId: string, count: number): Promise<ReleaseIPs> {
    const { id: interfaceId, addresses } = await this.interfaceOf(instanceId);
    return { kind: 'releaseIPs', instanceId, interfaceId, addresses: addresses.slice(-count) };
  }

  async ipv6(instanceId: string): Promise<AllocateIpv6Prefix> {
    const { id: interfaceId } = await this.interfaceOf(instanceId);
    return { kind: 'allocateIpv6Prefix', instanceId, interfaceId };
  }

  /** A second interface like the first, with two addresses and an IPv6 prefix. */
  async creation(instanceId: string, token: string): Promise<CreateInterface> {
    const { subnetId, securityGroupIds } = await this.interfaceOf(instanceId);
    const content = { addressCount: 2, prefixCount: 0, ipv6Prefix: true } as const;
    const place = { instanceId, subnetId, securityGroupIds, deviceIndex: 1 };
    return { kind: 'createInterface', ...place, ...content, description: 'contract', tags: {}, token };
  }

  /** An association of the first free public address with these tags. */
  async association(instanceId: string, tags: Tags): Promise<AssociateStaticIP> {
    const { id: interfaceId } = await this.interfaceOf(instanceId);
    const { addresses } = await this.ended(this.implementation.readPublicAddresses(tags, this.#context));
    const free = addresses.find(({ taken }) => !taken);
    if (free === undefined) throw new Error('no public address is free');
    const { id: addressId, address: publicAddress } = free;
    return { kind: 'associateStaticIP', instanceId, interfaceId, addressId, publicAddress };
  }

  /** Begins an operation; time passes only in `ended`. */
  async begin(operation: Begun): Promise<Outcome> {
    const context = { ...this.#context, instanceId: operation.instanceId };
    await this.implementation.admit([operation.kind], context);
    return this.implementation.perform(operation, context);
  }

  perform(operation: Begun): Promise<Outcome> {
    return this.ended(this.begin(operation));
  }

  /** Repeats a release until the addresses are gone, as may be done at any time. Gives up after ten attempts. */
  async insistOn(release: ReleaseIPs): Promise<Outcome> {
    let outcome = await this.perform(release);
    for (let attempt = 0; attempt < 10 && mayPass(outcome); attempt++) {
      await this.#rig.clock.advance(outcome.kind === 'failed' ? pause : settling);
      outcome = await this.perform(release);
    }
    return outcome;
  }

  /** Repeats an operation as its cloud allows, until the addresses are there. Gives up after ten attempts. */
  async insist(operation: AllocateIPs): Promise<Outcome> {
    const { addresses: before } = await this.interfaceOf(operation.instanceId);
    let outcome = await this.perform(operation);
    for (let attempt = 0; attempt < 10 && mayPass(outcome); attempt++) {
      await this.#rig.clock.advance(outcome.kind === 'failed' ? pause : settling);
      const repeated = await this.#repeated(operation, before);
      if (repeated.count === 0) return outcome;
      outcome = await this.perform(repeated);
    }
    return outcome;
  }

  /** Its process ends: nothing more follows from what it began. */
  end(): void {
    this.#process.abort(new Error('the process ends'));
  }

  /** Where a repetition assigns more, only what is missing is asked for. */
  async #repeated(operation: AllocateIPs, before: readonly string[]): Promise<AllocateIPs> {
    if (this.implementation.traits.repeatedAssignment === 'isRecognized') return operation;
    const { addresses } = await this.interfaceOf(operation.instanceId);
    return { ...operation, count: operation.count - (addresses.length - before.length) };
  }

  get #context(): CallContext {
    return { caller: { priority: 'high' }, signal: this.#process.signal };
  }
}

function mayPass(outcome: Outcome): boolean {
  return outcome.kind === 'ambiguous' || (outcome.kind === 'failed' && passing.has(outcome.failure.kind));
}

export interface Observed {
  readonly pages: readonly ObservedPage[];
  readonly observations: readonly Observation[];
  readonly interfaces: readonly NetworkInterface[];
  /** By instance: what is known of it besides its interfaces. */
  readonly instances: ReadonlyMap<string, string>;
  /** Instances that the read cannot complete. */
  readonly failed: readonly string[];
}

async function observed(reading: AsyncIterable<ObservedPage>): Promise<Observed> {
  const pages: ObservedPage[] = [];
  for await (const page of reading) pages.push(page);
  const observations = pages.flatMap((page) => page.observations);
  return {
    pages,
    observations,
    interfaces: observations.flatMap((item) => (item.kind === 'interface' ? [item.interface] : [])),
    instances: new Map(
      observations.flatMap((item) =>
        item.kind === 'instance' ? [[item.instance.id, item.instance.state] as const] : [],
      ),
    ),
    failed: pages.flatMap(({ failed = [] }) => failed.map(({ instanceId }) => instanceId)),
  };
}
