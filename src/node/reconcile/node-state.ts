// The known state of a node, from its CiliumNode and its instance, in the form each decision needs.
import type { PlannedStep } from '../allocate/planned-step.ts';
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import { textAt } from '../../runtime/json.ts';
import type { AllocationImplementation, InstancePort } from '../../providers/contract/cloud.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import type { Answer, Outcome } from '../../providers/contract/operations.ts';
import type { Activity, PauseReason, PermittedNode } from '../../providers/gate/mutation-permission.ts';
import type { Priority } from '../../providers/contract/priority.ts';
import { Growth } from '../allocate/growth.ts';
import { PodUse } from '../release/pod-use.ts';
import type { ReleasableFacts } from '../release/release-plan.ts';
import type { GrantedReleases } from '../release/release-turns.ts';
import { ReleaseStore } from '../release/release-store.ts';
import { type Assessment, type AssessmentFacts, assess, isInDeficit } from '../conditions/assessment.ts';
import { withoutAwaited } from '../demand/awaited.ts';
import { pathOfField } from '../publish/status-section.ts';
import { type Ipv6State, lacksIpv6 } from '../demand/ipv6.ts';
import { podAddresses, unconfirmedIn } from '../demand/capacity.ts';
import type { KnownLimits } from '../../providers/catalog/instance-type-limits.ts';
import { type IdleFacts, IdlePhases } from '../release/idle-interfaces.ts';
import type { NodeContext } from './node-context.ts';
import type { PartEvent } from './node-event.ts';
import { RecentCalls } from './recent-calls.ts';
import type { MaintainedFacts } from '../allocate/step-execution.ts';
import type { StaticAddressFacts } from '../housekeeping/static-address.ts';
import type { OpenWrite, PublishedObject } from '../publish/node-publisher.ts';
import { priorityOf, roomUnder } from '../demand/statistics.ts';
import { type Waiting, waitingAfter } from '../demand/demand.ts';

/** The limits of an instance type, as an assessment found them. */
interface AskedLimits {
  readonly type: string;
  readonly known: KnownLimits;
}

interface Assessed {
  readonly facts: AssessmentFacts;
  readonly assessment: Assessment;
  /** Undefined if it did not depend on an instance type. */
  readonly limits: AskedLimits | undefined;
}

export class NodeState implements InstancePort, PublishedObject, PermittedNode {
  /** The newest state of the object. */
  node: CiliumNode;
  pendingPods = 0;
  /** By the last decision. */
  assessed: Assessment = { kind: 'unread' };
  /** Number of operations started for the node. */
  calls = 0;
  readonly recentCalls = new RecentCalls();
  /** When this process last wrote the object, may have written it, or started to, in monotonic ms; -Infinity if never. */
  writtenAt = -Infinity;
  readonly seenAt: number;
  agentWroteAt: number;
  openWrite: OpenWrite | undefined;
  /** Holdings that are leaving. */
  readonly releases = new ReleaseStore();
  /** Addresses that running pods keep. */
  readonly podUse: PodUse;
  readonly idle = new IdlePhases();
  /** Steps that the last decision would take. */
  planned: readonly PlannedStep[] = [];
  /** Steps under way that add something. */
  readonly growth = new Growth();
  /** The interface that is getting a public address. */
  associating: string | undefined;
  readonly instanceId: string;
  /** Counts the operations. */
  readonly implementation: AllocationImplementation;
  readonly #uid: string;
  readonly #context: NodeContext;
  /** Whether a change replaces a whole instance, so that no two of its interfaces may change at once. */
  readonly #isChangedWhole: boolean;
  /** Whether the API server keeps IPv6 prefixes in a status. */
  readonly #showsIpv6: boolean;
  /** Reported and not fixed since. */
  #readTrouble: string | undefined;
  #waiting: Waiting | undefined;
  #last: Assessed | undefined;

  constructor(node: CiliumNode, instanceId: string, context: NodeContext) {
    this.node = node;
    this.#uid = node.uid;
    this.instanceId = instanceId;
    this.#context = context;
    this.seenAt = context.runtime.clock.monotonic();
    this.agentWroteAt = this.seenAt;
    this.implementation = this.#counting(context.cloud.implementation);
    const { section, traits } = this.implementation;
    this.#isChangedWhole = traits.change === 'perInstance';
    const { ipv6Prefixes: field } = section.layout;
    this.#showsIpv6 = field !== undefined && context.writer.schema.knows(pathOfField(section, field));
    const { pods, runtime } = context;
    this.podUse = new PodUse(pods && ((signal) => pods.on(node.name, signal)), runtime);
  }

  #counting(implementation: AllocationImplementation): AllocationImplementation {
    return {
      ...implementation,
      perform: (operation, context) => {
        this.calls++;
        const { clock } = this.#context.runtime;
        const { instanceId } = this;
        const node = { name: this.node.name, instanceId };
        const performed = implementation.perform(operation, { ...context, node });
        const note = (outcome: Outcome): void => this.recentCalls.note(operation, outcome, clock.monotonic());
        performed.then(note, () => undefined);
        return performed;
      },
    };
  }

  /** How urgently the node needs addresses, by the last decision. */
  get priority(): Priority {
    return this.assessed.kind === 'served'
      ? priorityOf(this.assessed.usage, lacksIpv6(this.assessed.ipv6))
      : 'normal';
  }

  get grantedReleases(): GrantedReleases {
    return this.#context.cloud.supply.grantedReleases;
  }

  /** Undefined while the instance is not tracked. */
  get view(): InstanceView | undefined {
    return this.#context.cloud.inventory.view(this.instanceId);
  }

  /** Returns the same object while its inputs are unchanged. */
  assess(): Assessment {
    const { network, limits, implementation } = this.#context.cloud;
    const { node, view, pendingPods } = this;
    this.#waiting = waitingAfter(this.#waiting, node, pendingPods);
    if (view === undefined) return { kind: 'unread' };
    const { unreported: unreportedPods } = this.#waiting;
    const { outgoing } = this.releases;
    const facts = {
      node,
      view,
      pendingPods,
      unreportedPods,
      outgoing,
      infrastructure: network.infrastructure,
    };
    if (this.#last !== undefined && isSame(this.#last.facts, facts) && this.#isCurrent(this.#last))
      return this.#last.assessment;
    const { section, traits } = implementation;
    const options = this.#context.settings.assessment;
    let asked: AskedLimits | undefined;
    const limitsOf = (type: string): KnownLimits => {
      asked = { type, known: limits.get(type) };
      return asked.known;
    };
    const rules = { limitsOf, options, words: section.words, traits, showsIpv6: this.#showsIpv6 };
    const assessment = assess(facts, rules);
    this.#last = { facts, assessment, limits: asked };
    return assessment;
  }

  /** A node that is not served may wait for an instance type that has been read since. */
  #isCurrent({ assessment, limits }: Assessed): boolean {
    if (assessment.kind === 'served' || limits === undefined) return true;
    return this.#context.cloud.limits.get(limits.type) === limits.known;
  }

  /** Facts for a plan. Undefined while the node cannot be served, like the methods below. */
  forAllocation(): MaintainedFacts | undefined {
    const { network, supply, implementation } = this.#context.cloud;
    const { ledger, orphans } = supply;
    const { view } = this;
    const assessment = this.assess();
    if (view === undefined || assessment.kind !== 'served') return undefined;
    const now = this.#context.runtime.clock.monotonic();
    const unconfirmed = unconfirmedIn(view);
    const { releases } = this;
    // To hide something takes two writes, and nothing is hidden while its instance is changing.
    const striking = this.#isChangedWhole ? releases.striking : none;
    const leaving = [releases.shrinking, this.idle.leaving, striking];
    return {
      view,
      limits: assessment.limits,
      requirements: assessment.requirements,
      network: {
        infrastructure: network.infrastructure,
        free: (subnetId) => ledger.free(subnetId, now),
        maxPrefixes: (subnetId) => ledger.maxPrefixes(subnetId, now),
      },
      need: {
        // Waits for addresses that the previous leader may have assigned, for a bounded time (previous-leader-state.ts).
        wanted: Math.max(0, assessment.toAllocate - unconfirmed),
        max: roomUnder(
          podAddresses(view, assessment.requirements).size + assessment.retiredInUse + unconfirmed,
          assessment.marks,
        ),
        ipv6: ipv6Need[assessment.ipv6],
      },
      orphans: orphans.of(this.instanceId),
      traits: implementation.traits,
      shrinking: this.#changingWith(leaving, view),
    };
  }

  forRelease(): ReleasableFacts | undefined {
    const { view } = this;
    const assessment = this.assess();
    if (view === undefined || assessment.kind !== 'served') return undefined;
    const { requirements, excess, toAllocate: wanted, retired } = assessment;
    const certain = withoutAwaited(view, this.node);
    const { node, writtenAt, openWrite } = this;
    const openUntil = openWrite?.version === node.resourceVersion ? openWrite.until : -Infinity;
    const growing = this.#changingWith([this.growth.interfaces], view);
    const lastWrite = { at: writtenAt, openUntil };
    return { node, view: certain, requirements, excess, wanted, retired, lastWrite, growing };
  }

  forIdleInterfaces(): IdleFacts | undefined {
    const facts = this.forRelease();
    const assessment = this.assess();
    const busy = unionOf([this.growth.interfaces, this.releases.interfaces]);
    return facts && { ...facts, inDeficit: assessment.kind === 'served' && isInDeficit(assessment), busy };
  }

  /** Reads the CiliumNode live; false if that fails or it belongs to another node by now. */
  async reread(signal: AbortSignal): Promise<boolean> {
    const { writer, emit } = this.#context;
    const { name } = this.node;
    const live = await writer.own.get(name, signal);
    if (live.kind !== 'found') {
      const trouble = live.kind === 'denied' ? live.message : undefined;
      if (trouble !== undefined && trouble !== this.#readTrouble)
        emit({ kind: 'readTrouble', node: this.node, problem: trouble });
      this.#readTrouble = trouble;
      return false;
    }
    this.#readTrouble = undefined;
    writer.known.observe(live.raw);
    return this.node.uid === this.#uid && textAt(live.raw, 'metadata', 'uid') === this.#uid;
  }

  /**
   * Nothing is taken from an instance that no Node names as its own: a CiliumNode alone could name another node's instance and
   * agree to give up its addresses.
   */
  refusal(activity: Activity): PauseReason | 'unverified' | undefined {
    const { permission, fleet } = this.#context;
    const { identities } = fleet;
    const { name } = this.node;
    if (activity === 'release' && !identities.isVerified(name, this.instanceId)) return 'unverified';
    return permission.refusal(activity, name);
  }

  /** Where Nodes are known, one of them must name the instance before more of it changes than its pod addresses. */
  mayBeOurs(): boolean {
    const { identities } = this.#context.fleet;
    return !identities.isKnown || identities.isVerified(this.node.name, this.instanceId);
  }

  /** A public address opens the instance to the internet, so the node must be the one it claims to be. */
  forStaticAddress(): StaticAddressFacts | undefined {
    const { ipam, status } = this.node;
    const tags = ipam.staticIpTags;
    const { view } = this;
    const isAsked = view !== undefined && Object.keys(tags).length > 0;
    if (!isAsked || !this.mayBeOurs() || this.assess().kind !== 'served') return undefined;
    const { growth, releases } = this;
    const busy = growth.interfaces.size + releases.shrinking.size + releases.striking.size;
    return {
      view,
      tags,
      isPossible: this.#context.cloud.implementation.traits.publicAddresses,
      // An agent that has given addresses to pods does not wait for its static address.
      isAwaited: status.assignedStaticIp === undefined && status.used.size === 0,
      isBusy: this.#isChangedWhole && busy > 0,
    };
  }

  /** Interfaces that a call of ours changes, or, with a lost answer, may still change. */
  get changedByUs(): ReadonlySet<string> {
    const { view, growth, releases } = this;
    return view === undefined ? none : this.#changingWith([growth.interfaces, releases.shrinking], view);
  }

  /** These, with the interfaces that change together with them, or with one that is getting a public address. */
  #changingWith(changing: readonly ReadonlySet<string>[], { interfaces }: InstanceView): ReadonlySet<string> {
    const ids = unionOf(changing);
    const isWhole = this.#isChangedWhole && (ids.size > 0 || this.associating !== undefined);
    return isWhole ? unionOf([ids, new Set(interfaces.map(({ id }) => id))]) : ids;
  }

  refresh(): Promise<void> {
    return this.#context.cloud.instances.refresh(this.instanceId);
  }

  /** The state of the instance is uncertain from that time on. */
  invalidate(from: number): void {
    this.#context.cloud.inventory.invalidate(this.instanceId, from);
  }

  /** Whether anything is leaving the node. */
  get isReleasing(): boolean {
    return this.releases.outgoing.size > 0 || this.idle.leaving.size > 0;
  }

  /** Applies the answer to one of our calls. */
  applyAnswer(answer: Answer): void {
    const { cloud, runtime, emit } = this.#context;
    const instanceIds = cloud.inventory.applyAnswer(answer, runtime.clock.monotonic());
    emit({ kind: 'instancesChanged', instanceIds });
  }

  /** Tells what a part did. What left the instance is free in its subnet, for all nodes. */
  tell(event: PartEvent): void {
    const { cloud, runtime, emit } = this.#context;
    emit({ ...event, node: this.node });
    if (event.kind !== 'release' && event.kind !== 'interfaceRelease') return;
    const { subnetId, failure } = event.release;
    if (failure !== undefined) return;
    const count = event.kind === 'release' ? event.release.count : 1;
    cloud.supply.ledger.released(subnetId, count, runtime.clock.monotonic());
    emit({ kind: 'spaceFreed' });
  }
}

const none: ReadonlySet<string> = new Set();

const ipv6Need: Readonly<Record<Ipv6State, MaintainedFacts['need']['ipv6']>> = {
  notAsked: 'needless',
  missing: 'wanted',
  held: 'held',
  awaited: 'held',
  unusable: 'held',
  unshowable: 'held',
};

function unionOf(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  let all = none;
  for (const each of sets) if (each.size > 0) all = all.size === 0 ? each : new Set([...all, ...each]);
  return all;
}

function isSame(a: AssessmentFacts, b: AssessmentFacts): boolean {
  return (
    a.node === b.node &&
    a.view === b.view &&
    a.pendingPods === b.pendingPods &&
    a.unreportedPods === b.unreportedPods &&
    a.outgoing === b.outgoing &&
    a.infrastructure === b.infrastructure
  );
}
