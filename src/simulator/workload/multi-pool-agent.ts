// An agent of the multi-pool protocol, as in ENI mode from Cilium 1.20. It takes addresses from the CIDRs in
// the status. It reports its demand and its CIDRs by writing the whole spec from its own, possibly stale,
// copy: after a conflict, not before its timer or a later cause. It reads neither `spec.ipam.pool` nor the release
// handshake.
import { sleep } from '../../runtime/clock.ts';
import { Trigger } from '../../runtime/trigger.ts';
import { type AgentContext, updateInterval } from './agent-context.ts';
import { type AttachedCidr, attachedCidrs } from './attached-cidrs.ts';
import { type Allocation, BaseAgent } from './base-agent.ts';
import { CidrPool, type TakenAddress } from './cidr-pool.ts';
import { demandOf, initialPreAllocate, PendingAllocations } from './pending-allocations.ts';
import { type Holding, Holdings, type Loss, type Whereabouts } from './holdings.ts';
import type { InterfaceStatus } from './interface-status.ts';
import { baseOf, formatCidr, parseAddress } from './ipv4.ts';
import { type JsonObject, numberAt, objectAt, textAt } from './json.ts';
import { saySameOfPools, withPools } from './pool-demand.ts';
import { resolveInterface } from './routing-facts.ts';

interface CidrHolding extends Holding {
  readonly cidr: string;
}

/** The own CiliumNode as last seen. */
interface View {
  readonly node: JsonObject;
  readonly interfaces: readonly InterfaceStatus[];
  readonly attached: ReadonlyMap<string, AttachedCidr>;
}

/** Interval of the timer by which the agent compares what it wrote with what it holds, in ms. */
const refreshInterval = 60_000;

export class MultiPoolAgent extends BaseAgent {
  readonly protocol = 'multi-pool';
  readonly #pool = new CidrPool();
  readonly #pending = new PendingAllocations();
  readonly #holdings = new Holdings<CidrHolding>();
  readonly #refresh: Trigger;
  /** When the last comparison started, in monotonic ms. */
  #comparedAt = -Infinity;
  #view: View | undefined;
  #preAllocate = initialPreAllocate;
  /** The CiliumNode shows its demand and nothing of the other protocol. */
  #isAnnounced = false;

  constructor(context: AgentContext) {
    super(context);
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
    const attached = attachedCidrs(interfaces, this.cloud.exclusionOf(node));
    if (previous !== undefined) this.#welcomeNew(previous, attached);
    this.#view = { node, interfaces, attached };
    this.#pool.update(attached);
    const preAllocate = numberAt(node, 'spec', 'ipam', 'pre-allocate');
    if (preAllocate > 0) this.#preAllocate = preAllocate;

    if (this.isRestored) this.#noticeLosses(this.#view);
    if (previous === undefined) this.#request();
    this.knock();
  }

  protected isReady(): boolean {
    return this.#isAnnounced && this.#pool.hasFree && (!this.cloud.awaitsCidr || this.#hasCidr());
  }

  #hasCidr(): boolean {
    return this.#view?.interfaces.some(({ cidrs }) => cidrs.length > 0) === true;
  }

  protected allocate(owner: string): Allocation {
    this.#request();
    const taken = this.#pool.takeAny(this.context.random);
    if (taken !== undefined) return this.#hold(taken, owner);
    this.#pending.failed(owner, this.context.clock.monotonic());
    return { kind: 'refused', reason: 'all CIDR ranges are exhausted' };
  }

  protected reallocate(address: string, owner: string): Allocation {
    const taken = this.#pool.take(address);
    if (taken !== undefined) return this.#hold(taken, owner);
    this.#pending.failed(owner, this.context.clock.monotonic());
    return { kind: 'refused', reason: `IP ${address} not in range of any CIDR` };
  }

  protected wasGivenUp(address: string): boolean {
    const number = parseAddress(address) ?? -1;
    for (const cidr of this.context.memory.leftOut) {
      const bits = Number(cidr.slice(cidr.indexOf('/') + 1));
      if (formatCidr({ first: baseOf(number, bits), bits }) === cidr) return true;
    }
    return false;
  }

  protected free(address: string): void {
    const holding = this.#holdings.drop(address);
    if (holding === undefined) return;
    this.#pool.release({ address, cidr: holding.cidr });
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

  /** Keeps the address only if it can be routed. */
  #hold(taken: TakenAddress, owner: string): Allocation {
    this.#pending.fulfilled(owner);
    const { address, cidr } = taken;
    const interfaceId = this.#view?.attached.get(cidr)?.interfaceId ?? '';
    const resolution = resolveInterface(this.#view?.interfaces ?? [], interfaceId);
    if (resolution.kind === 'unresolved') {
      this.#pool.release(taken);
      const what = 'offered-without-interface';
      this.context.memory.violations.add({ pod: owner, address, interfaceId, what });
      return { kind: 'refused', reason: resolution.reason };
    }
    this.#holdings.hold(address, { owner, interfaceId, cidr }, textAt(this.#view?.node, 'metadata', 'uid'));
    return { kind: 'allocated', address, owner, interfaceId };
  }

  #noticeLosses(view: View): void {
    const uid = textAt(view.node, 'metadata', 'uid');
    const { losses, returned } = this.#holdings.compare(uid, (_, holding) => whereabouts(view, holding));
    for (const address of returned) this.context.record('address-returned', address);
    for (const loss of losses) this.#noticeLoss(loss);
  }

  /**
   * A CIDR that this agent did not name in its last report may leave the status. If a pod got an address of
   * it since, the agent lost that race. It names the CIDR in its next write and so requests it back.
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
    const requested = this.#settleDemand();
    const { cidrs } = this.#pool;
    const next = withPools(view.node, requested, cidrs);
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
  #settleDemand(): number {
    const inUse = this.#pool.inUse;
    const pending = this.#pending.count(this.context.clock.monotonic());
    const requested = demandOf({ inUse, pending, preAllocate: this.#preAllocate });
    if (!this.isRestored) return requested;

    const { dropped, reclaimed } = this.#pool.balance(requested - inUse);
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
