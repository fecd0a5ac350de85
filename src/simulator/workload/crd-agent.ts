// An agent of the CRD allocator, as in ENI mode up to Cilium 1.19. It takes addresses from `spec.ipam.pool`,
// reports used ones and answers the release handshake. It writes the whole status from its own, possibly
// stale, copy.
import { Trigger } from '../../runtime/trigger.ts';
import { type AddressPool, addressPoolOf, type PoolEntry } from './address-pool.ts';
import { type AgentContext, updateInterval } from './agent-context.ts';
import { type Allocation, BaseAgent } from './base-agent.ts';
import { Holdings, type Holding, type Whereabouts } from './holdings.ts';
import type { InterfaceStatus } from './interface-status.ts';
import { type JsonObject, objectAt, textAt } from './json.ts';
import { agentAddressesOf } from './node-facts.ts';
import { pickAddress } from './pool-pick.ts';
import { answerHandshake, mayBeAllocated, releaseStatesOf, type ReleaseStates } from './release-handshake.ts';
import { resolveInterface } from './routing-facts.ts';
import { isGateOpen, requiredAddresses } from './start-gate.ts';

/** The own CiliumNode as last seen, with this agent's handshake answers. */
interface View {
  readonly node: JsonObject;
  readonly pool: AddressPool | undefined;
  readonly interfaces: readonly InterfaceStatus[];
  readonly states: ReleaseStates;
}

export class CrdAgent extends BaseAgent {
  readonly protocol = 'crd-allocator';
  protected readonly usesIpv6 = false;
  readonly #holdings = new Holdings<Holding>();
  readonly #refresh: Trigger;
  /** Addresses in use that the handshake reported as released, each recorded once. */
  readonly #releasedInUse = new Set<string>();
  #view: View | undefined;

  constructor(context: AgentContext) {
    super(context);
    this.#refresh = new Trigger({
      clock: context.clock,
      minInterval: updateInterval,
      run: (signal) => this.#writeStatus(signal),
      onBug: context.onBug,
    });
  }

  missingAddresses(): ReadonlyMap<string, string> {
    return this.#holdings.missing;
  }

  protected observe(node: JsonObject | undefined): void {
    this.#view = node && {
      node,
      pool: addressPoolOf(node),
      interfaces: this.cloud.interfacesOf(node, this.protocol),
      states: releaseStatesOf(node),
    };
    if (this.#view === undefined || !this.isRestored) return;
    this.#noticeLosses(this.#view);
    this.#answerHandshake(this.#view);
  }

  protected isReady(): boolean {
    if (this.#view === undefined) return false;
    const { node, pool, interfaces } = this.#view;
    const healthChecking = agentAddressesOf(this.context.facts).includes('health');
    return isGateOpen(pool, interfaces, requiredAddresses(node, healthChecking));
  }

  protected allocate(owner: string): Allocation {
    const view = this.#view;
    if (view?.pool === undefined) return refused('No IPs available');
    const isHeld = (address: string): boolean => this.#holdings.has(address);
    const address = pickAddress(view.pool, view.states, isHeld, this.context.random);
    const entry = address === undefined ? undefined : view.pool.get(address);
    if (address === undefined || entry === undefined) return refused('No more IPs available');
    return this.#take(address, entry, owner);
  }

  /**
   * Checks only the pool. An address marked for release before its user is restored stays, and the agent
   * answers accordingly: the mark was set without knowledge of the use.
   */
  protected reallocate(address: string, owner: string): Allocation {
    const entry = this.#view?.pool?.get(address);
    if (entry === undefined) return refused(`IP ${address} is not available`);
    const state = this.#view?.states.get(address);
    if (state !== 'marked-for-release' && !mayBeAllocated(address, this.#view?.states ?? new Map())) {
      return refused('IP not available, marked or ready for release');
    }
    return this.#take(address, entry, owner);
  }

  protected wasGivenUp(): boolean {
    return false;
  }

  protected free(address: string): void {
    this.#releasedInUse.delete(address);
    if (this.#holdings.drop(address) !== undefined) this.#refresh.fire();
  }

  protected onRestored(): void {
    if (this.#view !== undefined) this.observe(this.#view.node);
    this.#refresh.fire();
  }

  protected async background(): Promise<void> {
    // Empty: this protocol acts only on events.
  }

  protected halt(): Promise<void> {
    return this.#refresh.stop();
  }

  #take(address: string, entry: PoolEntry, owner: string): Allocation {
    const interfaceId = entry.resource;
    const resolution = resolveInterface(this.#view?.interfaces ?? [], interfaceId);
    if (resolution.kind === 'unresolved') {
      const what = 'offered-without-interface';
      this.context.memory.violations.add({ pod: owner, address, interfaceId, what });
      return refused(`failed to associate IP ${address} inside CiliumNode: ${resolution.reason}`);
    }
    this.#holdings.hold(address, { owner, interfaceId }, textAt(this.#view?.node, 'metadata', 'uid'));
    this.#refresh.fire();
    return { kind: 'allocated', address, owner, interfaceId };
  }

  #answerHandshake(view: View): void {
    const isHeld = (address: string): boolean => this.#remembers(this.#holdings.get(address));
    const { states, changed } = answerHandshake(view.states, view.pool, isHeld);
    if (changed.length === 0) return;
    this.#view = { ...view, states };
    for (const address of changed) {
      this.context.record('handshake-answered', address, states.get(address) ?? 'deleted');
    }
    this.#refresh.fire();
  }

  #noticeLosses(view: View): void {
    const { memory, record } = this.context;
    const uid = textAt(view.node, 'metadata', 'uid');
    const { losses, returned } = this.#holdings.compare(uid, (address) => whereabouts(view, address));
    for (const address of returned) record('address-returned', address);
    for (const { address, holding, what } of losses) {
      record('address-missing', address, holding.owner);
      memory.violations.add({ pod: holding.owner, address, interfaceId: holding.interfaceId, what });
    }
    for (const [address, state] of view.states) if (state === 'released') this.#noticeReleased(address);
  }

  #noticeReleased(address: string): void {
    const holding = this.#holdings.get(address);
    if (holding === undefined || this.#releasedInUse.has(address)) return;
    this.#releasedInUse.add(address);
    const { owner: pod, interfaceId } = holding;
    this.context.memory.violations.add({ pod, address, interfaceId, what: 'released-while-in-use' });
  }

  #remembers(holding: Holding | undefined): boolean {
    return holding !== undefined && !(this.context.memory.forgetsPods && holding.owner.includes('/'));
  }

  /** A conflict is retried after the usual interval, whatever the watch shows by then. */
  async #writeStatus(signal: AbortSignal): Promise<void> {
    const view = this.#view;
    if (view === undefined) return;
    const answer = await this.ownNode.replaceStatus(this.#statusOf(view), signal);
    if (answer.kind === 'refused') this.#refresh.fire();
  }

  /** The object with this agent's part of the status; empty fields are omitted, as its encoder does. */
  #statusOf(view: View): JsonObject {
    const used = Object.fromEntries(
      [...this.#holdings]
        .filter(([, holding]) => this.#remembers(holding))
        .map(([address, { owner, interfaceId }]) => [address, { owner, resource: interfaceId }]),
    );
    const ipam = {
      ...objectAt(view.node, 'status', 'ipam'),
      used: unlessEmpty(used),
      'release-ips': unlessEmpty(Object.fromEntries(view.states)),
    };
    const status = this.cloud.writtenBack(objectAt(view.node, 'status'), this.protocol);
    return { ...view.node, status: { ...status, ipam } };
  }
}

function whereabouts(view: View, address: string): Whereabouts {
  const entry = view.pool?.get(address);
  if (entry === undefined) return { kind: 'absent' };
  const carried = view.interfaces.some((each) => each.id === entry.resource);
  return carried ? { kind: 'offered', interfaceId: entry.resource } : { kind: 'interface-absent' };
}

function refused(reason: string): Allocation {
  return { kind: 'refused', reason };
}

function unlessEmpty(entries: JsonObject): JsonObject | undefined {
  return Object.keys(entries).length > 0 ? entries : undefined;
}
