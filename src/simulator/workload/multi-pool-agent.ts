// An agent of the multi-pool protocol, as in ENI mode from Cilium 1.20. The agent takes addresses from the CIDRs in the
// status. To report its demand and its CIDRs, the agent writes the whole spec from its own, possibly stale, copy. After a
// conflict, it writes again at its timer or at a later cause. The agent gives out no address of `spec.ipam.pool` and
// reads no release handshake.
import { sleep } from '../../runtime/clock.ts';
import { Trigger } from '../../runtime/trigger.ts';
import { type AgentContext, updateInterval } from './agent-context.ts';
import { contains } from './address-range.ts';
import { type AttachedCidr, attachedCidrs, attachedIpv6Prefixes } from './attached-cidrs.ts';
import { type AllocatedAddress, type Allocation, BaseAgent } from './base-agent.ts';
import { CidrPool, type TakenAddress } from './cidr-pool.ts';
import type { Random } from '../../runtime/random.ts';
import { DeviceSetup } from './device-setup.ts';
import { demandOf, initialPreAllocate, PendingAllocations } from './pending-allocations.ts';
import { type Holding, Holdings, type Loss, type Whereabouts } from './holdings.ts';
import type { InterfaceStatus } from './interface-status.ts';
import { type JsonObject, numberAt, objectAt, textAt } from './json.ts';
import { saySameOfPools, withPools } from './pool-demand.ts';
import { resolveInterface } from './routing-facts.ts';
import { awaitsStaticAddress } from './start-gate.ts';

interface CidrHolding extends Holding {
  readonly cidr: string;
}

/** The own CiliumNode as last seen. */
interface View {
  readonly node: JsonObject;
  readonly interfaces: readonly InterfaceStatus[];
  /** The attached CIDRs of each family that the agent uses. */
  readonly attached: ReadonlyMap<string, AttachedCidr>;
}

/** The addresses of one family that the agent has, and how many more it wants. */
class FamilyPool {
  readonly cidrs = new CidrPool();
  readonly pending = new PendingAllocations();
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  demandAt(now: number, preAllocate: number): number {
    return demandOf({ inUse: this.cidrs.inUse, pending: this.pending.count(now), preAllocate });
  }
}

/** Interval of the timer by which the agent compares what it wrote with what it holds, in ms. */
const refreshInterval = 60_000;

export class MultiPoolAgent extends BaseAgent {
  readonly protocol = 'multi-pool';
  protected readonly usesIpv6: boolean;
  readonly #ipv4: FamilyPool;
  readonly #ipv6: FamilyPool | undefined;
  readonly #holdings = new Holdings<CidrHolding>();
  readonly #devices: DeviceSetup;
  readonly #refresh: Trigger;
  /** When the last comparison started, in monotonic ms. */
  #comparedAt = -Infinity;
  #view: View | undefined;
  #preAllocate = initialPreAllocate;
  /** The CiliumNode shows its demand and nothing of the other protocol. */
  #isAnnounced = false;

  constructor(context: AgentContext) {
    super(context);
    const { facts, random } = context;
    this.usesIpv6 = facts.ipv6 === true;
    this.#ipv4 = new FamilyPool(random);
    this.#ipv6 = this.usesIpv6 ? new FamilyPool(random.fork('ipv6')) : undefined;
    this.#devices = new DeviceSetup(context.memory.devices, this.cloud);
    this.#refresh = new Trigger({
      clock: context.clock,
      minInterval: 0,
      run: (signal) => this.#write(signal),
      onBug: context.onBug,
    });
  }

  missingAddresses(): ReadonlyMap<string, string> {
    return this.#holdings.missing;
  }

  /** A deleted CiliumNode changes nothing: the agent continues with the last seen state. */
  protected observe(node: JsonObject | undefined): void {
    if (node === undefined) return;
    const previous = this.#view;
    const interfaces = this.cloud.interfacesOf(node, this.protocol);
    const rule = this.cloud.exclusionOf(node);
    const ipv4 = attachedCidrs(interfaces, rule);
    const ipv6 = this.usesIpv6 ? attachedIpv6Prefixes(interfaces, rule) : undefined;
    const attached = ipv6 === undefined ? ipv4 : new Map([...ipv4, ...ipv6]);
    if (previous !== undefined) this.#welcomeNew(previous, attached);
    this.#view = { node, interfaces, attached };
    this.#devices.observe(node, interfaces);
    this.#ipv4.cidrs.update(ipv4);
    if (ipv6 !== undefined) this.#ipv6?.cidrs.update(ipv6);
    const preAllocate = numberAt(node, 'spec', 'ipam', 'pre-allocate');
    if (preAllocate > 0) this.#preAllocate = preAllocate;

    if (this.isRestored) this.#noticeLosses(this.#view);
    if (previous === undefined) this.#request();
    this.knock();
  }

  /** Needs a free address of each family, however long that takes. */
  protected isReady(): boolean {
    const hasFree = this.#families.every(({ cidrs }) => cidrs.hasFree);
    const isWaiting = !this.#isAnnounced || awaitsStaticAddress(this.#view?.node);
    return hasFree && !isWaiting && (!this.cloud.awaitsCidr || this.#hasCidr());
  }

  #hasCidr(): boolean {
    return this.#view?.interfaces.some(({ cidrs }) => cidrs.length > 0) === true;
  }

  protected allocate(owner: string): Allocation {
    this.#request();
    const ipv6 = this.#ipv6 && this.#takeAny(this.#ipv6, owner);
    if (typeof ipv6 === 'string') return { kind: 'refused', reason: ipv6 };
    const ipv4 = this.#takeAny(this.#ipv4, owner);
    if (typeof ipv4 !== 'string') return { kind: 'allocated', ...ipv4, ...(ipv6 !== undefined && { ipv6 }) };
    if (ipv6 !== undefined) this.free(ipv6.address);
    return { kind: 'refused', reason: ipv4 };
  }

  get #families(): readonly FamilyPool[] {
    return this.#ipv6 === undefined ? [this.#ipv4] : [this.#ipv4, this.#ipv6];
  }

  #familyOf(address: string): FamilyPool {
    return this.#ipv6 !== undefined && address.includes(':') ? this.#ipv6 : this.#ipv4;
  }

  /** Any address of the family, or why there is none. */
  #takeAny({ cidrs, pending, random }: FamilyPool, owner: string): AllocatedAddress | string {
    const taken = cidrs.takeAny(random);
    if (taken !== undefined) return this.#hold(taken, owner);
    pending.failed(owner, this.context.clock.monotonic());
    return 'all CIDR ranges are exhausted';
  }

  protected reallocate(address: string, owner: string): Allocation {
    const { cidrs, pending } = this.#familyOf(address);
    const taken = cidrs.take(address);
    if (taken === undefined) {
      pending.failed(owner, this.context.clock.monotonic());
      return { kind: 'refused', reason: `IP ${address} not in range of any CIDR` };
    }
    const held = this.#hold(taken, owner);
    return typeof held === 'string' ? { kind: 'refused', reason: held } : { kind: 'allocated', ...held };
  }

  protected wasGivenUp(address: string): boolean {
    return [...this.context.memory.leftOut].some((cidr) => contains(cidr, address));
  }

  protected free(address: string): void {
    const holding = this.#holdings.drop(address);
    if (holding === undefined) return;
    this.#familyOf(address).cidrs.release({ address, cidr: holding.cidr });
    this.#request();
  }

  protected onRestored(): void {
    this.#request();
  }

  protected async background(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.context.clock, refreshInterval, signal);
      this.#refresh.fire();
    }
  }

  protected halt(): Promise<void> {
    return this.#refresh.stop();
  }

  /** Compares at once, unless it did so a moment ago: then the next cause or the timer serves this one too. */
  #request(): void {
    if (this.context.clock.monotonic() - this.#comparedAt >= updateInterval) this.#refresh.fire();
  }

  /** A CIDR that was left out, detached and attached again counts as new. */
  #welcomeNew(previous: View, attached: View['attached']): void {
    const { memory } = this.context;
    const known = (cidr: string): boolean => previous.attached.has(cidr) || !attached.has(cidr);
    memory.leftOut = new Set([...memory.leftOut].filter(known));
  }

  /** Keeps the address only if it can be routed; else says why it cannot. */
  #hold(taken: TakenAddress, owner: string): AllocatedAddress | string {
    const { address, cidr } = taken;
    const family = this.#familyOf(address);
    family.pending.fulfilled(owner);
    const interfaceId = this.#view?.attached.get(cidr)?.interfaceId ?? '';
    const resolution = resolveInterface(this.#view?.interfaces ?? [], interfaceId);
    if (resolution.kind === 'unresolved') {
      family.cidrs.release(taken);
      const what = 'offered-without-interface';
      this.context.memory.violations.add({ pod: owner, address, interfaceId, what });
      return resolution.reason;
    }
    if (!this.#devices.isDone(interfaceId))
      this.context.memory.violations.add({ pod: owner, address, interfaceId, what: 'interface-not-set-up' });
    this.#holdings.hold(address, { owner, interfaceId, cidr }, textAt(this.#view?.node, 'metadata', 'uid'));
    return { address, owner, interfaceId };
  }

  #noticeLosses(view: View): void {
    const uid = textAt(view.node, 'metadata', 'uid');
    const { losses, returned } = this.#holdings.compare(uid, (_, holding) => whereabouts(view, holding));
    for (const address of returned) this.context.record('address-returned', address);
    for (const loss of losses) this.#noticeLoss(loss);
  }

  /**
   * A CIDR that this agent did not name in its last report may leave the status. If a pod got an address of that CIDR
   * since, the agent lost that race: its next write names the CIDR and so requests it back.
   */
  #noticeLoss({ address, holding, what }: Loss<CidrHolding>): void {
    const { memory, record } = this.context;
    record('address-missing', address, holding.owner);
    if (memory.leftOut.has(holding.cidr)) return;
    memory.violations.add({ pod: holding.owner, address, interfaceId: holding.interfaceId, what });
  }

  /** Writes demand and CIDRs if they differ. A conflict is followed by nothing. */
  async #write(signal: AbortSignal): Promise<void> {
    this.#comparedAt = this.context.clock.monotonic();
    const view = this.#view;
    if (view === undefined) return;
    const requested = this.#settleDemand(this.#ipv4);
    const ipv6Requested = this.#ipv6 && this.#settleDemand(this.#ipv6);
    const cidrs = this.#families.flatMap((family) => family.cidrs.cidrs);
    const next = withPools(view.node, requested, cidrs, ipv6Requested);
    const answer = saySameOfPools(view.node, next)
      ? ({ kind: 'ok', object: view.node } as const)
      : await this.ownNode.replace(next, signal);
    if (answer.kind === 'refused') return;

    if (cidrs.length > 0) this.#rememberLeftOut(view, cidrs);
    if (!(await this.#clearUsed(answer.object, signal))) return;
    this.#isAnnounced = true;
    this.knock();
  }

  /** Before the endpoints are restored, a pod may use what earlier agents left out. */
  #rememberLeftOut(view: View, named: readonly string[]): void {
    const { memory } = this.context;
    const before = this.isRestored ? [] : memory.leftOut;
    memory.leftOut = difference([...before, ...view.attached.keys()], named);
  }

  /** Computes the demand; reclaims and drops CIDRs accordingly, once the use is known. */
  #settleDemand(family: FamilyPool): number {
    const requested = family.demandAt(this.context.clock.monotonic(), this.#preAllocate);
    if (!this.isRestored) return requested;

    const { dropped, reclaimed } = family.cidrs.balance(requested - family.cidrs.inUse);
    for (const cidr of reclaimed) this.context.record('cidr-reclaimed', cidr);
    for (const cidr of dropped) this.context.record('cidr-dropped', cidr);
    return requested;
  }

  /**
   * Empties `status.ipam.used`, which an agent of the other protocol wrote and by which readers distinguish the
   * protocols. Returns whether it is empty.
   */
  async #clearUsed(node: JsonObject, signal: AbortSignal): Promise<boolean> {
    const status = objectAt(node, 'status');
    const ipam = objectAt(status, 'ipam');
    if (Object.keys(objectAt(ipam, 'used')).length === 0) return true;
    const cleared = { ...node, status: { ...status, ipam: { ...ipam, used: undefined } } };
    return (await this.ownNode.replaceStatus(cleared, signal)).kind === 'ok';
  }
}

function difference(all: Iterable<string>, without: readonly string[]): ReadonlySet<string> {
  const excluded = new Set(without);
  return new Set([...all].filter((each) => !excluded.has(each)));
}

function whereabouts(view: View, holding: CidrHolding): Whereabouts {
  const carrier = view.attached.get(holding.cidr);
  if (carrier !== undefined) return { kind: 'offered', interfaceId: carrier.interfaceId };
  const isThere = view.interfaces.some((each) => each.id === holding.interfaceId);
  return isThere ? { kind: 'absent' } : { kind: 'interface-absent' };
}
