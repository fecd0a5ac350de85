// Checks a simulated cluster at the moment of each effect, and records every action of a controller that violates an
// invariant. It trusts the state of the cloud model and the memory of the machines, never a controller.
import { isDeepStrictEqual } from 'node:util';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { Change } from '../../../src/simulator/kubernetes/storage/change.ts';
import { textAt } from '../../../src/simulator/workload/json.ts';
import type { WorkloadEvent } from '../../../src/simulator/workload/journal.ts';
import type { ActingCall, CloudRig } from '../clouds/cloud-rig.ts';
import { agentCloudOf } from '../../../src/simulator/workload/clouds/known-clouds.ts';
import { Allowances } from './allowances.ts';
import { ChangingInterfaces, type NodeWrite } from './changing-interfaces.ts';
import { addressesOf, Assignments, covers, heldText } from './assignments.ts';
import type { EndedCall } from './ended-call.ts';
import type { Violation, Invariant } from './violation.ts';
import { isFake } from './fakes.ts';
import { Ipv6Prefixes } from './ipv6-prefixes.ts';
import { OwnUnassignments } from './own-unassignments.ts';
import { ReleaseConsents } from './release-consents.ts';
import {
  addedBy,
  hasAddress,
  hasSameAddresses,
  growthOf,
  idOf,
  unlessDetaching,
} from './interface-change.ts';
import { PodUses } from './pod-uses.ts';
import { ReadTimes } from './read-times.ts';
import { OwnAssignments } from './own-assignments.ts';
import { JustifiedWithdrawals, type AddressState } from './justified-withdrawals.ts';
import { RepeatedRefusals } from './repeated-refusals.ts';
import { maxRead, repairTime, useReportedWithin } from './time-limits.ts';
import {
  isMissedAfterProtocolChange,
  isRoutable,
  offeredBy,
  type ShownNode,
  shownNodeOf,
} from './shown-node.ts';

export interface InvariantCheckerOptions {
  readonly rig: CloudRig;
  readonly now: () => number;
  /** In ms. */
  readonly consistencyWindow: number;
}

export class InvariantChecker {
  readonly violations: Violation[] = [];
  readonly assignments: Assignments;
  readonly allowances: Allowances;
  readonly #options: InvariantCheckerOptions;
  /** Node by instance id. */
  readonly #nodes = new Map<string, string>();
  /** By address: the nodes that show it. */
  readonly #nodesByAddress = new Map<string, Set<string>>();
  /** By node: since when it shows each address. */
  readonly #shown = new Map<string, ReadonlyMap<string, number>>();
  /** By address: the last external change. Its consequences are not a controller's fault. */
  readonly #externallyChangedAt = new Map<string, number>();
  /** Instances that lost something to an external change. */
  readonly #instancesWithLoss = new Set<string>();
  /** By controller: the end of its first call; a standby makes none. */
  readonly #firstCallAt = new Map<string, number>();
  /** When the latest of them started. */
  #latestStartAt = -Infinity;
  readonly #podUses: PodUses;
  /** Whether pods use the primary addresses of interfaces. */
  readonly #usesPrimaries: boolean;
  readonly #ownUnassignments = new OwnUnassignments();
  readonly #changingInterfaces: ChangingInterfaces;
  readonly #releaseConsents: ReleaseConsents;
  readonly #readTimes: ReadTimes;
  readonly #ownAssignments: OwnAssignments;
  readonly #justifiedWithdrawals: JustifiedWithdrawals;
  readonly #repeatedRefusals: RepeatedRefusals;
  readonly #ipv6: Ipv6Prefixes;

  constructor(options: InvariantCheckerOptions) {
    this.#options = options;
    const { network, kubernetes } = options.rig.cluster;
    this.#usesPrimaries = agentCloudOf(options.rig).usesPrimaryAddresses;
    this.assignments = new Assignments(options.now, this.#usesPrimaries);
    this.allowances = new Allowances(options.now);
    this.#podUses = new PodUses(options.now);
    this.#releaseConsents = new ReleaseConsents(options.now);
    const isExempt = (address: string): boolean => this.#isExempt(address);
    const { rig } = options;
    this.#changingInterfaces = new ChangingInterfaces({ rig, consents: this.#releaseConsents, isExempt });
    this.#readTimes = new ReadTimes(options.now);
    this.#ownAssignments = new OwnAssignments(options.now);
    this.#justifiedWithdrawals = new JustifiedWithdrawals(options.now);
    const exists = (interfaceId: string): boolean => network.interfaces.has(interfaceId);
    const newFor = options.consistencyWindow + rig.untilUsable;
    this.#repeatedRefusals = new RepeatedRefusals({ now: options.now, newFor, exists });
    this.#ipv6 = new Ipv6Prefixes(options, this);
    for (const item of network.interfaces.values()) this.assignments.change(undefined, item);
    network.onInterface = (before, after) => {
      options.rig.judge(before, after);
      this.#onInterface(before, after);
      this.#ipv6.onInterface(before, after);
      this.assignments.change(before, after);
    };
    kubernetes.follow('ciliumnodes.cilium.io', (change) => {
      if (!isFake(change.key)) this.#onNode(change);
    });
  }

  get #cluster(): CloudRig['cluster'] {
    return this.#options.rig.cluster;
  }

  /**
   * Exempts an address after an external change: until a controller must have repaired it, and while a pod still uses
   * what its instance lost.
   */
  exempt(address: string): void {
    this.#externallyChangedAt.set(address, this.#options.now());
  }

  /** An external change removed something from an instance, so it is really missing. */
  recordExternalLoss(instanceId: string): void {
    this.#instancesWithLoss.add(instanceId);
  }

  hasExternalLoss(instanceId: string): boolean {
    return this.#instancesWithLoss.has(instanceId);
  }

  #isExempt(address: string): boolean {
    const since = this.#externallyChangedAt.get(address);
    if (since === undefined) return false;
    // Without a leader nothing is repaired, so the time counts from the first call of the present leader.
    if (this.#options.now() <= Math.max(since, this.#latestStartAt) + repairTime) return true;
    return this.#cluster.workload.views.some(
      ({ facts, addressesInUse }) =>
        addressesInUse.has(address) && !this.assignments.has(facts.instanceId, address),
    );
  }

  /** A call of a controller ended. */
  onCallEnded(identity: string, action: string, ended: EndedCall): void {
    const { input, result, output } = ended;
    if (!this.#firstCallAt.has(identity)) {
      this.#latestStartAt = this.#options.now();
      this.#firstCallAt.set(identity, this.#latestStartAt);
    }
    const read = this.#options.rig.instancesRead(action, input, output, identity);
    if (result === 'OK') this.#readTimes.add(identity, read);
    if (action === 'UnassignPrivateIpAddresses' && result === 'OK')
      this.#ownUnassignments.onAnswer(identity, input, (holding) => this.#isAssigned(holding));
    if (result === 'OK') this.#ownAssignments.onAnswer(identity, action, input, output);
    const again = this.#repeatedRefusals.add(identity, action, ended);
    if (again !== undefined) this.report('repeated-refused-call', again);
  }

  /** A controller applied an answer of the cloud. */
  onAnswerApplied(identity: string, action: string, output: object): void {
    if (action === 'DescribeNetworkInterfaces') this.#repeatedRefusals.onRead(identity);
    if (action === 'CreateNetworkInterface')
      this.#repeatedRefusals.created(textAt({ ...output }, 'NetworkInterface', 'NetworkInterfaceId'));
  }

  report(invariant: Invariant, text: string): void {
    this.violations.push({ invariant, at: this.#options.now(), text });
  }

  /** Addresses that pods on an instance hold. */
  inUseOn(instanceId: string): ReadonlySet<string> {
    return new Set(this.#inUse(this.#nodes.get(instanceId) ?? '', instanceId).keys());
  }

  /** The node on an instance. */
  nodeOf(instanceId: string): string | undefined {
    return this.#nodes.get(instanceId);
  }

  /** Applies an event of a machine. */
  onWorkloadEvent(event: WorkloadEvent): void {
    const { node, kind, subject, detail } = event;
    if (kind === 'node-added') this.#nodes.set(subject, node);
    this.#podUses.apply(event);
    if (kind !== 'violation' || this.#isExempt(subject) || !this.#isRunning(node)) return;
    const instanceId = this.#cluster.workload.machineOf(node)?.facts.instanceId ?? '';
    const [finding = ''] = detail.split(' ');
    if (this.#followsFromLoss(node, instanceId, subject, finding)) return;
    this.report('agent-violation', `the agent of ${node} reports for ${subject}: ${detail}`);
  }

  /** Whether a finding of an agent follows from an external loss of its instance. */
  #followsFromLoss(node: string, instanceId: string, address: string, finding: string): boolean {
    if (address.includes(':')) return this.#ipv6.isLost(instanceId, address);
    if (this.#wasLostExternally(instanceId, address)) return true;
    if (finding === 'lost-across-restart' && isMissedAfterProtocolChange(this.#shownOn(node), address))
      return true;
    if (finding === 'used-on-two-nodes') return this.#isLostWhereUsed(node, address);
    if (finding === 'address-vanished' && this.#isShownAsSingle(node, instanceId, address)) return true;
    return this.#justifiedWithdrawals.accountsFor(instanceId, address, finding);
  }

  /** The instance lost the prefix that the agent knew, and has since got the single address, which is shown. */
  #isShownAsSingle(node: string, instanceId: string, address: string): boolean {
    const { now, consistencyWindow } = this.#options;
    const lostAt = this.assignments.lastInPrefix(instanceId, address);
    if (lostAt === -Infinity || lostAt > now() - consistencyWindow) return false;
    return this.#shownOn(node).pool[address] !== undefined && this.assignments.has(instanceId, address);
  }

  #shownOn(node: string): ShownNode {
    return shownNodeOf(this.#cluster.kubernetes.get('ciliumnodes.cilium.io', node));
  }

  /** A pod of another node still uses what its instance lost; the cloud may have assigned it to this node. */
  #isLostWhereUsed(node: string, address: string): boolean {
    return this.#cluster.workload.views
      .filter(({ nodeName, addressesInUse }) => nodeName !== node && addressesInUse.has(address))
      .every(({ facts }) => this.#wasLostExternally(facts.instanceId, address));
  }

  #isRunning(node: string): boolean {
    const { workload, network } = this.#cluster;
    const instanceId = workload.machineOf(node)?.facts.instanceId ?? '';
    const state = network.instances.get(instanceId)?.state;
    return state === 'running' || state === 'pending';
  }

  #onInterface(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    const added = addedBy(before, after);
    this.#ownUnassignments.forget(added);
    this.#changingInterfaces.onInterface(before, after);
    if (before === undefined && after !== undefined) this.#repeatedRefusals.created(after.id);
    this.#checkConsents(before, after);
    const acting = this.#options.rig.acting(idOf(before, after));
    if (acting === undefined) return;
    if (after !== undefined) this.#ownAssignments.assigned(acting.identity, after.id, added);
    if (acting.unassigns) this.#ownUnassignments.unassigned(acting.identity, addedBy(after, before));
    if (!acting.unassigns) this.#checkLimit(acting, before, after);
    // What was already leaving does not leave by this call.
    const kept = unlessDetaching(before) === undefined ? after : unlessDetaching(after);
    if (before !== undefined) this.#checkUnassigned(acting, before, kept);
  }

  /** No call may unassign what the instance's own node did not release. */
  #checkConsents(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    const acting = this.#options.rig.acting(idOf(before, after));
    const instanceId = before?.instanceId;
    if (acting?.unassigns !== true || instanceId === undefined) return;
    for (const address of addressesOf(addedBy(after, before))) {
      if (this.#releaseConsents.has(instanceId, address)) continue;
      const text = `${acting.identity} unassigns ${address} of ${instanceId}, which no node released`;
      this.report('unassigned-without-consent', text);
    }
  }

  #checkUnassigned(acting: ActingCall, before: NetworkInterface, kept: NetworkInterface | undefined): void {
    if (before.instanceId === undefined || (kept !== undefined && hasSameAddresses(kept, before))) return;
    const node = this.#nodes.get(before.instanceId) ?? '';
    for (const [address, user] of this.#inUse(node, before.instanceId)) {
      const isUnassigned = hasAddress(before, address) && !hasAddress(kept, address);
      if (isUnassigned)
        this.#reportUnassigned(acting, `${address} from ${user} on ${node} (${before.id})`, address);
    }
  }

  /**
   * No call may exceed max-allocate, counted with what the node shows and has. A release that fails gives back what it
   * took. A new leader is exempt for a consistency window, because its watch and its reads may lag.
   */
  #checkLimit(
    acting: ActingCall,
    before: NetworkInterface | undefined,
    after: NetworkInterface | undefined,
  ): void {
    const { instanceId, gained } = growthOf(before, after, this.#usesPrimaries);
    const node = this.#nodes.get(instanceId) ?? '';
    const { maxAllocate: latest = Infinity } = this.#cluster.workload.machineOf(node)?.facts.ipam ?? {};
    const maxAllocate = Math.max(latest, this.allowances.formerLimit(instanceId));
    // The call cannot have considered what was shown after it was sent.
    const sentAt = this.#options.now() - this.#options.rig.maxCall;
    const shown = [...(this.#shown.get(node) ?? [])].filter(
      ([address, since]) => since <= sentAt && this.#countsTowardsLimit(node, instanceId, address),
    );
    if (gained <= 0 || shown.length + gained <= maxAllocate + this.allowances.extra(instanceId)) return;
    const firstCallAt = this.#firstCallAt.get(acting.identity) ?? Infinity;
    if (this.#options.now() < firstCallAt + this.#options.consistencyWindow) return;
    const text = `${acting.action} of ${acting.identity} adds ${gained} to ${node}, which shows ${shown.length} of at most ${maxAllocate}`;
    this.report('above-max-allocate', text);
  }

  /** Whether a shown address counts: the instance has it, on an interface for pods or in reported use. */
  #countsTowardsLimit(node: string, instanceId: string, address: string): boolean {
    if (!this.assignments.has(instanceId, address)) return false;
    const first = this.#cluster.workload.machineOf(node)?.facts.eni?.firstInterfaceIndex ?? 0;
    const reportedBy = this.#options.now() - useReportedWithin;
    const isUsed =
      this.#inUse(node, instanceId).has(address) && this.#podUses.hadAt(node, address, reportedBy);
    if (first === 0 || isUsed) return true;
    return [...this.#cluster.network.interfaces.values()].some(
      (item) =>
        item.instanceId === instanceId && (item.deviceIndex ?? 0) >= first && hasAddress(item, address),
    );
  }

  #reportUnassigned({ action, identity }: ActingCall, what: string, address: string): void {
    if (!this.#isExempt(address))
      this.report('unassigned-in-use', `${action} of ${identity} unassigns ${what}`);
  }

  #isAssigned(holding: string): boolean {
    return [...this.#cluster.network.interfaces.values()].some(
      ({ addresses, prefixes }) => addresses.includes(holding) || prefixes.includes(holding),
    );
  }

  /** User by address, from the memory of the machine, while its instance runs. */
  #inUse(node: string, instanceId: string): ReadonlyMap<string, string> {
    const machine = this.#cluster.workload.machineOf(node);
    if (machine?.facts.instanceId !== instanceId || !this.#isRunning(node)) return new Map();
    return machine.memory.endpoints;
  }

  #onNode({ kind, key, object, previous }: Change): void {
    const shown = shownNodeOf(kind === 'DELETED' ? undefined : object);
    this.#releaseConsents.update(shown);
    const protocol = this.#cluster.workload.machineOf(key)?.protocol ?? 'crd-allocator';
    const offered = new Set([...offeredBy(shown, protocol), ...Object.keys(shown.pool)]);
    const writer = this.#cluster.kubernetes.acting?.headers ?? {};
    if (writer['user-agent']?.startsWith('headwater') === true) {
      const formerly = shownNodeOf(previous);
      const before = offeredBy(formerly, protocol);
      // An agent may change protocol before it gets the write.
      for (const each of ['crd-allocator', 'multi-pool'] as const)
        this.#recordWithdrawals(
          key,
          { before: offeredBy(formerly, each), after: offeredBy(shown, each) },
          Number(writer['sent-at']),
        );
      this.#checkHidden(key, before, offeredBy(shown, protocol));
      this.#reportMisdeeds({
        node: key,
        before: formerly,
        after: shown,
        offered: before,
        writer: writer['user-agent'],
      });
      // An agent of the other protocol finds the same addresses in another field.
      this.#checkOffers(key, shown, new Set([...offered].filter((each) => !before.has(each))), writer);
      this.#checkRouting(key, shown);
      // A write of the pool does not change what the status shows.
      if (!isDeepStrictEqual(formerly.interfaces, shown.interfaces)) this.#checkPlacement(key, shown, writer);
    }
    this.#index(key, offered);
  }

  #checkOffers(
    node: string,
    shown: ShownNode,
    offered: ReadonlySet<string>,
    writer: Readonly<Record<string, string>>,
  ): void {
    const had = this.#shown.get(node) ?? new Map<string, number>();
    for (const address of offered) {
      if (had.has(address)) continue;
      this.#checkOffer(node, shown.instanceId, address, writer);
      if (!this.#isExempt(address)) this.#checkOfferedInterface(node, shown, address);
    }
  }

  /**
   * A newly offered address must be shown on the attached interface that has it, because the agent routes over that
   * interface.
   */
  #checkOfferedInterface(node: string, { instanceId, interfaces }: ShownNode, address: string): void {
    if (!this.assignments.has(instanceId, address)) return;
    for (const [id, { addresses = [] }] of Object.entries(interfaces)) {
      if (!addresses.includes(address)) continue;
      const item = this.#cluster.network.interfaces.get(id);
      const isAttaching = item?.attachment?.status === 'attaching';
      if (hasAddress(item, address) && !isAttaching) continue;
      const problem = isAttaching ? 'is not attached yet' : 'does not have it';
      this.report('offered-without-interface', `${node} offers ${address} on ${id}, which ${problem}`);
    }
  }

  /** A controller must not show what its own answered call assigned on another interface of the same node. */
  #checkPlacement(
    node: string,
    shown: ShownNode,
    { 'user-agent': writer = '', 'sent-at': sentAt = '' }: Readonly<Record<string, string>>,
  ): void {
    const { interfaces } = this.#cluster.network;
    for (const { address, on, assignedTo } of this.#ownAssignments.misplaced(writer, Number(sentAt), shown)) {
      const item = interfaces.get(assignedTo);
      // If another node shows it, the controller finds out by a read and withdraws it in order.
      if (item?.instanceId !== shown.instanceId || !hasAddress(item, address)) continue;
      const text = `${node} shows ${address} on ${on}, though ${writer} itself assigned it to ${assignedTo}`;
      this.report('offered-without-interface', text);
    }
  }

  #checkHidden(node: string, before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    const machine = this.#cluster.workload.machineOf(node);
    if (machine === undefined || !this.#isRunning(node)) return;
    const { instanceId } = machine.facts;
    for (const [address, user] of machine.memory.endpoints) {
      if (!before.has(address) || after.has(address) || this.#isExternal(instanceId, address)) continue;
      if (covers(machine.memory.leftOut, address)) continue;
      this.report('hidden-in-use', `${address} of ${user} is hidden on ${node}`);
    }
  }

  #reportMisdeeds(write: NodeWrite): void {
    for (const misdeed of this.#changingInterfaces.misdeedsIn(write)) this.report('misdeed', misdeed);
  }

  #recordWithdrawals(
    node: string,
    { before, after }: { readonly before: ReadonlySet<string>; readonly after: ReadonlySet<string> },
    sentAt: number,
  ): void {
    const machine = this.#cluster.workload.machineOf(node);
    if (machine === undefined || !this.#isRunning(node)) return;
    const { instanceId } = machine.facts;
    const inUse = machine.memory.endpoints;
    const stateOf = (address: string): AddressState => {
      if (this.#isExternal(instanceId, address)) return 'lost';
      // A slow write may hide what no pod had when it was sent.
      return inUse.has(address) && this.#podUses.hadAt(node, address, sentAt) ? 'in use' : 'free';
    };
    for (const address of before)
      if (!after.has(address)) this.#justifiedWithdrawals.withdrawn(instanceId, address, stateOf(address));
    for (const address of after)
      if (!before.has(address)) this.#justifiedWithdrawals.shown(instanceId, address);
  }

  /** Whether its removal follows from an external change. */
  #isExternal(instanceId: string, address: string): boolean {
    return this.#isExempt(address) || this.#wasLostExternally(instanceId, address);
  }

  /**
   * Whether the instance lost it so long ago that two reads can have shown that, or its interface is detached or on
   * another instance.
   */
  #wasLostExternally(instanceId: string, address: string): boolean {
    const { now, consistencyWindow } = this.#options;
    const lastHad = this.assignments.lastHad(instanceId, address);
    if (lastHad === Infinity) return false;
    if (lastHad <= now() - consistencyWindow) return true;
    return [...this.#cluster.network.interfaces.values()].some(
      (item) => item.instanceId !== instanceId && hasAddress(item, address),
    );
  }

  /**
   * A newly offered address must have been the instance's within the consistency window, unless the writer has not read
   * since the loss.
   */
  #checkOffer(
    node: string,
    instanceId: string,
    address: string,
    { 'user-agent': writer = '', 'sent-at': sentAt = '' }: Readonly<Record<string, string>>,
  ): void {
    const had = this.assignments.lastHad(instanceId, address);
    if (had === Infinity) return;
    if (this.#ownUnassignments.has(writer, address)) {
      this.report('offered-unassigned', `${node} offers ${address}, which ${writer} itself unassigned`);
      return;
    }
    if (had >= Number(sentAt) - this.#options.consistencyWindow) return;
    if (had > this.#readTimes.last(writer, instanceId, Number(sentAt)) - maxRead) return;
    this.report('offered-unassigned', `${node} offers ${address}, which ${instanceId} ${heldText(had)}`);
  }

  #checkRouting(node: string, { pool, interfaces }: ShownNode): void {
    const onInterfaces = new Set(Object.values(interfaces).flatMap(({ addresses = [] }) => addresses));
    for (const [address, { resource = '' }] of Object.entries(pool)) {
      if (isRoutable(interfaces[resource]) && onInterfaces.has(address)) continue;
      const text = `${node} offers ${address} of ${resource}, which it does not show`;
      this.report('offered-without-interface', text);
    }
  }

  #index(node: string, offered: ReadonlySet<string>): void {
    const before = this.#shown.get(node) ?? new Map<string, number>();
    for (const address of before.keys())
      if (!offered.has(address)) this.#nodesByAddress.get(address)?.delete(node);
    for (const address of offered) {
      if (before.has(address)) continue;
      const nodes = this.#nodesByAddress.get(address) ?? new Set();
      this.#nodesByAddress.set(address, nodes.add(node));
      if (nodes.size > 1)
        this.report('offered-twice', `${address} is offered on ${[...nodes].join(' and ')}`);
    }
    const now = this.#options.now();
    this.#shown.set(node, new Map([...offered].map((address) => [address, before.get(address) ?? now])));
  }
}
