// Watches a simulated cluster and notes every act of a controller that must never be, at the moment of its effect: by what
// the cloud truly has and what the machines truly remember, never by what a controller says.
import { isDeepStrictEqual } from 'node:util';
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { ActingRequest } from '../../../src/simulator/ec2/ec2-gateway.ts';
import type { EmbeddedCluster } from '../../../src/simulator/cluster/embedded-cluster.ts';
import type { Change } from '../../../src/simulator/kubernetes/storage/change.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import type { WorkloadEvent } from '../../../src/simulator/workload/journal.ts';
import { Allowances } from './allowances.ts';
import { Assignments, membersOf, prefixOf } from './assignments.ts';
import type { Breach, Invariant } from './violation.ts';
import { isFake } from './fakes.ts';
import { GivenBack } from './own-unassignments.ts';
import { GivenUp } from './release-consents.ts';
import { addedBy, carries, carriesTheSame, growthOf, staying } from './interface-change.ts';
import { PodUses } from './pod-uses.ts';
import { Readings } from './read-times.ts';
import { Received } from './own-assignments.ts';
import { RightStrikes, type Standing } from './justified-withdrawals.ts';
import { StaleFacts } from './repeated-refusals.ts';
import { offeredBy, type ShownInterface, type ShownNode, shownNodeOf } from './shown-node.ts';

/** How a call of a controller ended. */
export interface EndedCall {
  readonly input: JsonObject;
  readonly result: string;
  readonly sentAt: number;
  /** Of a call that succeeded. */
  readonly output: JsonObject;
}

export interface JudgeOptions {
  readonly cluster: EmbeddedCluster;
  readonly now: () => number;
  /** In ms. */
  readonly consistencyWindow: number;
}

export class Judge {
  readonly breaches: Breach[] = [];
  readonly assignments: Assignments;
  readonly allowances: Allowances;
  readonly #options: JudgeOptions;
  /** Node by instance id. */
  readonly #nodes = new Map<string, string>();
  /** By address, the nodes that show it. */
  readonly #offers = new Map<string, Set<string>>();
  /** By node, since when each address is shown. */
  readonly #shown = new Map<string, ReadonlyMap<string, number>>();
  /** When somebody else last took an address away: what follows from that is not ours. */
  readonly #foreign = new Map<string, number>();
  /** Instances from which somebody else took something away. */
  readonly #losers = new Set<string>();
  /** By controller, when its first call ended: on standby it makes none. */
  readonly #begunAt = new Map<string, number>();
  /** When the latest of them began. */
  #lastBegunAt = -Infinity;
  readonly #podUses: PodUses;
  readonly #givenBack = new GivenBack();
  readonly #givenUp: GivenUp;
  readonly #readings: Readings;
  readonly #received: Received;
  readonly #rightStrikes: RightStrikes;
  readonly #staleFacts: StaleFacts;

  constructor(options: JudgeOptions) {
    this.#options = options;
    const { ec2, kubernetes } = options.cluster;
    this.assignments = new Assignments(options.now);
    this.allowances = new Allowances(options.now);
    this.#podUses = new PodUses(options.now);
    this.#givenUp = new GivenUp(options.now);
    this.#readings = new Readings(options.now);
    this.#received = new Received(options.now);
    this.#rightStrikes = new RightStrikes(options.now);
    const isThere = (interfaceId: string): boolean => ec2.network.interfaces.has(interfaceId);
    this.#staleFacts = new StaleFacts({ ...options, isThere });
    for (const item of ec2.network.interfaces.values()) this.assignments.change(undefined, item);
    ec2.network.onInterface = (before, after) => {
      this.#seeInterface(before, after);
      this.assignments.change(before, after);
    };
    kubernetes.follow('ciliumnodes.cilium.io', (change) => {
      if (!isFake(change.key)) this.#seeNode(change);
    });
  }

  /**
   * What somebody else does to an address now is not held against the controller: until it must have mended it, and for as
   * long as a pod goes on with what its instance lost.
   */
  excuse(address: string): void {
    this.#foreign.set(address, this.#options.now());
  }

  /** Somebody else took something away from an instance: that it is missing is true. */
  noteLoss(instanceId: string): void {
    this.#losers.add(instanceId);
  }

  hasLost(instanceId: string): boolean {
    return this.#losers.has(instanceId);
  }

  #isExcused(address: string): boolean {
    const since = this.#foreign.get(address);
    if (since === undefined) return false;
    // While nobody leads nobody can mend it: the time of who leads now counts from its own first call.
    if (this.#options.now() <= Math.max(since, this.#lastBegunAt) + mendedWithin) return true;
    return this.#options.cluster.workload.views.some(
      ({ facts, addressesInUse }) =>
        addressesInUse.has(address) && !this.assignments.has(facts.instanceId, address),
    );
  }

  /** A call of a controller has ended. */
  hearCall(identity: string, action: string, ended: EndedCall): void {
    const { input, result, output } = ended;
    if (!this.#begunAt.has(identity)) {
      this.#lastBegunAt = this.#options.now();
      this.#begunAt.set(identity, this.#lastBegunAt);
    }
    if (action === 'DescribeNetworkInterfaces' && result === 'OK') this.#readings.add(identity, input);
    if (action === 'UnassignPrivateIpAddresses' && result === 'OK')
      this.#givenBack.answered(identity, input, (holding) => this.#isHeld(holding));
    if (result === 'OK') this.#received.add(identity, action, input, output);
    const again = this.#staleFacts.add(identity, action, ended);
    if (again !== undefined) this.note('refused-again', again);
  }

  /** A controller has taken in what the cloud answered. */
  seeTaken(identity: string, action: string, output: object): void {
    if (action === 'DescribeNetworkInterfaces') this.#staleFacts.readAnew(identity);
    if (action === 'CreateNetworkInterface')
      this.#staleFacts.made(textAt({ ...output }, 'NetworkInterface', 'NetworkInterfaceId'));
  }

  note(invariant: Invariant, text: string): void {
    this.breaches.push({ invariant, at: this.#options.now(), text });
  }

  /** Addresses that pods on an instance hold. */
  inUseOn(instanceId: string): ReadonlySet<string> {
    return new Set(this.#inUse(this.#nodes.get(instanceId) ?? '', instanceId).keys());
  }

  /** The node on an instance. */
  nodeOf(instanceId: string): string | undefined {
    return this.#nodes.get(instanceId);
  }

  /** Takes in what happens on machines. */
  hear(event: WorkloadEvent): void {
    const { node, kind, subject, detail } = event;
    if (kind === 'node-added') this.#nodes.set(subject, node);
    this.#podUses.hear(event);
    if (kind !== 'violation' || this.#isExcused(subject) || !this.#isRunning(node)) return;
    const instanceId = this.#options.cluster.workload.machineOf(node)?.facts.instanceId ?? '';
    const [finding = ''] = detail.split(' ');
    if (this.#followsFromALoss(node, instanceId, subject, finding)) return;
    this.note('agent-violation', `the agent of ${node} finds for ${subject}: ${detail}`);
  }

  /** Whether what an agent finds follows from what an instance lost to somebody else. */
  #followsFromALoss(node: string, instanceId: string, address: string, finding: string): boolean {
    if (this.#wasLostToOthers(instanceId, address)) return true;
    if (
      finding === 'lost-across-restart' &&
      (this.#isAgreed(node, address) || this.#isEntering(node, address))
    )
      return true;
    if (finding === 'used-on-two-nodes') return this.#isLostWhereUsed(node, address);
    if (finding === 'address-vanished' && this.#isShownAlone(node, instanceId, address)) return true;
    return this.#rightStrikes.account(instanceId, address, finding);
  }

  /** An agent that agreed to give it, was of the other protocol for a while and took it, finds its own answer. */
  #isAgreed(node: string, address: string): boolean {
    const shown = shownNodeOf(this.#options.cluster.kubernetes.get('ciliumnodes.cilium.io', node));
    return shown.handshakes[address] === 'ready-for-release';
  }

  /** An agent of the other protocol took it from the status: the pool, which is written last, does not have it yet. */
  #isEntering(node: string, address: string): boolean {
    const shown = shownNodeOf(this.#options.cluster.kubernetes.get('ciliumnodes.cilium.io', node));
    return shown.pool[address] === undefined && offeredBy(shown, 'multi-pool').has(address);
  }

  /** It is shown as it is now: the prefix in which the agent knew it was lost, and it was assigned by itself since. */
  #isShownAlone(node: string, instanceId: string, address: string): boolean {
    const { cluster, now, consistencyWindow } = this.#options;
    const lostAt = this.assignments.lastInPrefix(instanceId, address);
    if (lostAt === -Infinity || lostAt > now() - consistencyWindow) return false;
    const shown = shownNodeOf(cluster.kubernetes.get('ciliumnodes.cilium.io', node));
    return shown.pool[address] !== undefined && this.assignments.has(instanceId, address);
  }

  /** A pod of another node goes on with what its instance lost to somebody else: the cloud may give it to this one. */
  #isLostWhereUsed(node: string, address: string): boolean {
    return this.#options.cluster.workload.views
      .filter(({ nodeName, addressesInUse }) => nodeName !== node && addressesInUse.has(address))
      .every(({ facts }) => this.#wasLostToOthers(facts.instanceId, address));
  }

  #isRunning(node: string): boolean {
    const { workload, ec2 } = this.#options.cluster;
    const instanceId = workload.machineOf(node)?.facts.instanceId ?? '';
    const state = ec2.network.instances.get(instanceId)?.state;
    return state === 'running' || state === 'pending';
  }

  #seeInterface(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    const added = addedBy(before, after);
    this.#givenBack.forget(added);
    if (before === undefined && after !== undefined) this.#staleFacts.made(after.id);
    this.#judgeGivenUp(before, after);
    const { acting } = this.#options.cluster.ec2.gateway;
    if (acting === undefined) return;
    if (after !== undefined) this.#received.given(nameOf(acting), after.id, added);
    if (acting.action === 'UnassignPrivateIpAddresses')
      this.#givenBack.took(nameOf(acting), addedBy(after, before));
    this.#judgeGrowth(acting, before, after);
    // What was leaving already does not leave by this call.
    const kept = staying(before) === undefined ? after : staying(after);
    if (before !== undefined) this.#judgeLoss(acting, before, kept);
  }

  /** No call of ours takes from an instance what its own node did not give up. */
  #judgeGivenUp(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    const { acting } = this.#options.cluster.ec2.gateway;
    const instanceId = before?.instanceId;
    if (acting?.action !== 'UnassignPrivateIpAddresses' || instanceId === undefined) return;
    const taken = addedBy(after, before).flatMap((each) => (each.includes('/') ? membersOf(each) : [each]));
    for (const address of taken) {
      if (this.#givenUp.has(instanceId, address)) continue;
      this.note('not-given-up', `${nameOf(acting)} takes ${address} of ${instanceId}, which no node gave up`);
    }
  }

  #judgeLoss(acting: ActingRequest, before: NetworkInterface, kept: NetworkInterface | undefined): void {
    if (before.instanceId === undefined || (kept !== undefined && carriesTheSame(kept, before))) return;
    const node = this.#nodes.get(before.instanceId) ?? '';
    for (const [address, user] of this.#inUse(node, before.instanceId)) {
      const isTaken = carries(before, address) && !carries(kept, address);
      if (isTaken) this.#noteTaken(acting, `${address} from ${user} on ${node} (${before.id})`, address);
    }
  }

  /**
   * Nothing is asked for beyond max-allocate, counted with what the node shows its agent and truly has; but for a new leader,
   * of whom neither the watch nor the readings may have told all of that yet.
   */
  #judgeGrowth(
    acting: ActingRequest,
    before: NetworkInterface | undefined,
    after: NetworkInterface | undefined,
  ): void {
    const { instanceId, gained } = growthOf(before, after);
    const node = this.#nodes.get(instanceId) ?? '';
    const { maxAllocate: latest = Infinity } =
      this.#options.cluster.workload.machineOf(node)?.facts.ipam ?? {};
    const maxAllocate = Math.max(latest, this.allowances.formerLimit(instanceId));
    // What came to be shown after the call was sent, it cannot have reckoned with.
    const sentAt = this.#options.now() - slowestCall;
    const shown = [...(this.#shown.get(node) ?? [])].filter(
      ([address, since]) => since <= sentAt && this.#isSupply(node, instanceId, address),
    );
    if (gained <= 0 || shown.length + gained <= maxAllocate + this.allowances.gifts(instanceId)) return;
    const begunAt = this.#begunAt.get(nameOf(acting)) ?? Infinity;
    if (this.#options.now() < begunAt + this.#options.consistencyWindow) return;
    const text = `${acting.action} of ${nameOf(acting)} brings ${gained} to ${node}, which shows ${shown.length} and may have ${maxAllocate}`;
    this.note('beyond-limit', text);
  }

  /** Whether an address that a node shows is its instance's, and on an interface for pods or known to be in use: the others leave. */
  #isSupply(node: string, instanceId: string, address: string): boolean {
    if (!this.assignments.has(instanceId, address)) return false;
    const { cluster } = this.#options;
    const first = cluster.workload.machineOf(node)?.facts.eni?.firstInterfaceIndex ?? 0;
    const toldBy = this.#options.now() - useToldWithin;
    const isUsed = this.#inUse(node, instanceId).has(address) && this.#podUses.hadAt(node, address, toldBy);
    if (first === 0 || isUsed) return true;
    return [...cluster.ec2.network.interfaces.values()].some(
      (item) => item.instanceId === instanceId && (item.deviceIndex ?? 0) >= first && carries(item, address),
    );
  }

  #noteTaken({ action, caller }: ActingRequest, what: string, address: string): void {
    if (!this.#isExcused(address)) this.note('taken-in-use', `${action} of ${caller.arn} takes ${what}`);
  }

  #isHeld(holding: string): boolean {
    return [...this.#options.cluster.ec2.network.interfaces.values()].some(
      ({ addresses, prefixes }) => addresses.includes(holding) || prefixes.includes(holding),
    );
  }

  /** User by address, by the memory of the machine, while its instance runs. */
  #inUse(node: string, instanceId: string): ReadonlyMap<string, string> {
    const machine = this.#options.cluster.workload.machineOf(node);
    if (machine?.facts.instanceId !== instanceId || !this.#isRunning(node)) return new Map();
    return machine.memory.endpoints;
  }

  #seeNode({ kind, key, object, previous }: Change): void {
    const shown = shownNodeOf(kind === 'DELETED' ? undefined : object);
    this.#givenUp.see(shown);
    const protocol = this.#options.cluster.workload.machineOf(key)?.protocol ?? 'crd-allocator';
    const offered = new Set([...offeredBy(shown, protocol), ...Object.keys(shown.pool)]);
    const writer = this.#options.cluster.kubernetes.acting?.headers ?? {};
    if (writer['user-agent']?.startsWith('headwater') === true) {
      const formerly = shownNodeOf(previous);
      const before = offeredBy(formerly, protocol);
      // An agent may change to the other protocol before it hears.
      for (const each of ['crd-allocator', 'multi-pool'] as const)
        this.#noteRightStrikes(
          key,
          { before: offeredBy(formerly, each), after: offeredBy(shown, each) },
          Number(writer['sent-at']),
        );
      this.#judgeStrikes(key, before, offeredBy(shown, protocol));
      // To an agent of another protocol, what was there is offered in another place.
      this.#judgeOffers(key, shown, new Set([...offered].filter((each) => !before.has(each))), writer);
      this.#judgeInterfaces(key, shown);
      // A write to the other half leaves for the next one what the status shows.
      if (!isDeepStrictEqual(formerly.interfaces, shown.interfaces)) this.#judgePlaces(key, shown, writer);
    }
    this.#index(key, offered);
  }

  #judgeOffers(
    node: string,
    shown: ShownNode,
    offered: ReadonlySet<string>,
    writer: Readonly<Record<string, string>>,
  ): void {
    const had = this.#shown.get(node) ?? new Map<string, number>();
    for (const address of offered) {
      if (had.has(address)) continue;
      this.#judgeOffer(node, shown.instanceId, address, writer);
      if (!this.#isExcused(address)) this.#judgeCarrier(node, shown, address);
    }
  }

  /** An address that is offered anew is shown on the interface that has it, and that is attached: what its agent routes over. */
  #judgeCarrier(node: string, { instanceId, interfaces }: ShownNode, address: string): void {
    if (!this.assignments.has(instanceId, address)) return;
    for (const [id, { addresses = [] }] of Object.entries(interfaces)) {
      if (!addresses.includes(address)) continue;
      const item = this.#options.cluster.ec2.network.interfaces.get(id);
      const isAttaching = item?.attachment?.status === 'attaching';
      if (carries(item, address) && !isAttaching) continue;
      const fault = isAttaching ? 'is not attached yet' : 'does not have it';
      this.note('offered-without-interface', `${node} offers ${address} on ${id}, which ${fault}`);
    }
  }

  /** What its own answered call put on an interface, a controller shows on no other of the same node. */
  #judgePlaces(
    node: string,
    shown: ShownNode,
    { 'user-agent': writer = '', 'sent-at': sentAt = '' }: Readonly<Record<string, string>>,
  ): void {
    const { interfaces } = this.#options.cluster.ec2.network;
    for (const { address, on, given } of this.#received.misplaced(writer, Number(sentAt), shown)) {
      const item = interfaces.get(given);
      // That another node shows it is found out by looking, and struck in order.
      if (item?.instanceId !== shown.instanceId || !carries(item, address)) continue;
      const text = `${node} shows ${address} on ${on}, though ${writer} itself gave it to ${given}`;
      this.note('offered-without-interface', text);
    }
  }

  #judgeStrikes(node: string, before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    const machine = this.#options.cluster.workload.machineOf(node);
    if (machine === undefined || !this.#isRunning(node)) return;
    const { instanceId } = machine.facts;
    for (const [address, user] of machine.memory.endpoints) {
      if (!before.has(address) || after.has(address) || this.#isOthers(instanceId, address)) continue;
      if (isLeftOut(machine.memory.leftOut, address)) continue;
      this.note('hidden-in-use', `${address} of ${user} is struck from what ${node} shows`);
    }
  }

  #noteRightStrikes(
    node: string,
    { before, after }: { readonly before: ReadonlySet<string>; readonly after: ReadonlySet<string> },
    sentAt: number,
  ): void {
    const machine = this.#options.cluster.workload.machineOf(node);
    if (machine === undefined || !this.#isRunning(node)) return;
    const { instanceId } = machine.facts;
    const inUse = machine.memory.endpoints;
    const standingOf = (address: string): Standing => {
      if (this.#isOthers(instanceId, address)) return 'lost';
      // A write that takes long strikes what no pod had when it was sent.
      return inUse.has(address) && this.#podUses.hadAt(node, address, sentAt) ? 'in use' : 'free';
    };
    for (const address of before)
      if (!after.has(address)) this.#rightStrikes.struck(instanceId, address, standingOf(address));
    for (const address of after) if (!before.has(address)) this.#rightStrikes.shown(instanceId, address);
  }

  /** That it is shown no more is somebody else's doing. */
  #isOthers(instanceId: string, address: string): boolean {
    return this.#isExcused(address) || this.#wasLostToOthers(instanceId, address);
  }

  /**
   * The instance has not had it for so long that two readings can have shown it, or the interface that has it is shown detached or
   * on another instance.
   */
  #wasLostToOthers(instanceId: string, address: string): boolean {
    const { now, consistencyWindow, cluster } = this.#options;
    const lastHad = this.assignments.lastHad(instanceId, address);
    if (lastHad === Infinity) return false;
    if (lastHad <= now() - consistencyWindow) return true;
    return [...cluster.ec2.network.interfaces.values()].some(
      (item) => item.instanceId !== instanceId && carries(item, address),
    );
  }

  /** An address that is offered anew was the instance's of late, or the writer has not asked since it was lost. */
  #judgeOffer(
    node: string,
    instanceId: string,
    address: string,
    { 'user-agent': writer = '', 'sent-at': sentAt = '' }: Readonly<Record<string, string>>,
  ): void {
    const had = this.assignments.lastHad(instanceId, address);
    if (had === Infinity) return;
    if (this.#givenBack.has(writer, address)) {
      this.note('offered-unassigned', `${node} offers ${address}, which ${writer} itself took away`);
      return;
    }
    if (had >= Number(sentAt) - this.#options.consistencyWindow) return;
    if (had > this.#readings.last(writer, instanceId, Number(sentAt)) - slowestReading) return;
    this.note('offered-unassigned', `${node} offers ${address}, which ${instanceId} ${whenHad(had)}`);
  }

  #judgeInterfaces(node: string, { pool, interfaces }: ShownNode): void {
    const carried = new Set(Object.values(interfaces).flatMap(({ addresses = [] }) => addresses));
    for (const [address, { resource = '' }] of Object.entries(pool)) {
      if (isRoutable(interfaces[resource]) && carried.has(address)) continue;
      const text = `${node} offers ${address} of ${resource}, which it does not show`;
      this.note('offered-without-interface', text);
    }
  }

  #index(node: string, offered: ReadonlySet<string>): void {
    const before = this.#shown.get(node) ?? new Map<string, number>();
    for (const address of before.keys()) if (!offered.has(address)) this.#offers.get(address)?.delete(node);
    for (const address of offered) {
      if (before.has(address)) continue;
      const nodes = this.#offers.get(address) ?? new Set();
      this.#offers.set(address, nodes.add(node));
      if (nodes.size > 1) this.note('offered-twice', `${address} is offered on ${[...nodes].join(' and ')}`);
    }
    const now = this.#options.now();
    this.#shown.set(node, new Map([...offered].map((address) => [address, before.get(address) ?? now])));
  }
}

/** The controller whose call it is. */
function nameOf({ caller }: ActingRequest): string {
  return caller.arn.replace(/.*\//, '');
}

/** What somebody else changed has to be mended within, in ms. */
const mendedWithin = 300_000;

/** From when a pod has an address until each controller knows, at most, in ms: agents write every 15 s, and watches are late. */
const useToldWithin = 180_000;

/** From when a call is sent until its effect, at most, in ms. */
const slowestCall = 20_000;

/** From before a reading is made until its answer is taken in, at most, in ms. */
const slowestReading = 40_000;

/** Whether an agent finds what it needs to set up a pod. */
function isRoutable(carrier: ShownInterface | undefined): boolean {
  const { mac, subnet, vpc } = carrier ?? {};
  return mac !== undefined && subnet?.cidr !== undefined && vpc?.['primary-cidr'] !== undefined;
}

function isLeftOut(leftOut: ReadonlySet<string>, address: string): boolean {
  return leftOut.has(`${address}/32`) || leftOut.has(prefixOf(address));
}

function whenHad(at: number): string {
  return at === -Infinity ? 'never had' : `had until ${(at / 1000).toFixed(1)} s`;
}
