// One node under Headwater's care, from the moment its CiliumNode appears until it goes or becomes another. It brings
// together what its agent asks for and what the cloud shows, and drives allocation and publication by the two.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import type { JsonObject } from '../kubernetes/json.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';
import type { Begin } from '../providers/in-flight.ts';
import { rankOf, type Urgency } from '../providers/urgency.ts';
import { SeldomMap } from '../memory/seldom-filled.ts';
import { Trigger } from '../scheduling/trigger.ts';
import type { Claimed } from './address-claims.ts';
import type { Assessment } from './assessment.ts';
import { CloudWork } from './cloud-work.ts';
import { DesiredState } from './desired-state.ts';
import { protocolOf } from './demand.ts';
import {
  type Diagnosis,
  diagnoseClaim,
  diagnoseFailure,
  diagnoseObstacle,
  mutationsStopped,
} from './diagnosis.ts';
import { KnownNode } from './known-node.ts';
import { LastingCap } from './lasting-cap.ts';
import type { NodeContext } from './node-context.ts';
import type { NodeFigures } from './node-figures.ts';
import { NodePublisher } from './node-publisher.ts';
import type { AllocationPlan } from './prepare-ip-allocation.ts';
import { mentionedIn, shownSince } from './recollection.ts';
import { Remarks } from './remarks.ts';
import { Rehearsal } from './rehearsal.ts';
import { urgencyOf } from './urgency.ts';

/** Least time between two decisions, and between two publications, in ms: causes that come together cost one. */
const minInterval = 10;
/** The same while pods wait. */
const pressingInterval = 2;

/** What a node waits for by itself. */
type Wait = 'look' | 'publish' | 'subnets' | 'cap';

export class ManagedNode {
  readonly name: string;
  readonly uid: string;
  readonly instanceId: string;
  readonly #context: NodeContext;
  readonly #known: KnownNode;
  readonly #maintenance: Trigger;
  readonly #publication: Trigger;
  readonly #cloud: CloudWork;
  readonly #publisher: NodePublisher;
  readonly #remarks: Remarks;
  readonly #rehearsal: Rehearsal;
  readonly #timers = new SeldomMap<Wait, () => void>();
  readonly #cap: LastingCap;
  readonly #desired: DesiredState;
  #assessment: Assessment = { kind: 'unread' };
  #diagnosis: Diagnosis | undefined;
  #isLooking = false;
  /** It publishes, or stands in line for it. */
  #isPublishing = false;
  /** Of publishing, when it was decided last. */
  #urgencyDecided: Urgency = 'housekeeping';
  /** While it publishes, a state came that its last look may not have seen. */
  #isNewerThanLook = false;
  /** The state that is being taken up is what our own write made of the one before. */
  #isOurs = false;
  /** Since when it lacks addresses, in monotonic ms, and how many cloud calls had been made for it by then. */
  #shortSince: { readonly at: number; readonly calls: number } | undefined;

  /** `recalled`: interfaces that the object already shows; undefined when it speaks of another instance. */
  constructor(
    node: CiliumNode,
    instanceId: string,
    context: NodeContext,
    recalled: readonly NetworkInterface[] | undefined,
  ) {
    this.name = node.name;
    this.uid = node.uid;
    this.instanceId = instanceId;
    this.#context = context;
    this.#known = new KnownNode(node, instanceId, context, () => this.#cloud.releaser.outgoing);
    const { clock, onBug, hooks, writer, permission } = context;
    // A node may come back, and must not repeat the tokens of its former life.
    const random = context.random.fork(`${instanceId} ${context.random.hex(16)}`);
    const runs = {
      clock,
      minInterval,
      pressingInterval,
      onBug,
      isPressing: () => this.#known.waitingPods > 0,
    };
    this.#maintenance = new Trigger({ ...runs, run: () => this.#evaluate(), onRun: hooks.onMaintenance });
    this.#publication = new Trigger({
      ...runs,
      // What is written is worked out once there is a place for it: by then it may be more, and costs one write all the same.
      admit: (start) => this.#standInLine(start),
      run: (signal) => this.#publish(signal),
      onRun: hooks.onPublication,
    });
    this.#cloud = new CloudWork({
      name: node.name,
      instanceId,
      context,
      random,
      known: this.#known,
      writtenAt: () => this.#publisher.writtenAt,
      urgency: () => this.urgency,
      wake: () => this.wake(),
    });
    this.#remarks = new Remarks(hooks);
    this.#cap = new LastingCap(clock, (ms) => this.#later('cap', ms, () => this.wake()));
    this.#rehearsal = new Rehearsal(context.permission, (decision) => hooks.onRehearsed(this.name, decision));
    this.#desired = new DesiredState({
      context,
      instanceId,
      showsAnother: recalled === undefined,
      node: () => this.#known.node,
      assess: () => this.#known.assess(),
      diagnosis: () => this.#diagnosis,
      cloud: this.#cloud,
      onClaimed: (claimed) => this.#onClaimed(claimed),
    });
    this.#publisher = new NodePublisher({
      writer,
      permission,
      observe: (raw, isOurs) => this.#observe(raw, isOurs),
      clock,
      random,
      node: () => this.#known.node,
      desired: () => this.#desired.now(),
      onWrite: hooks.onWrite,
      onTrouble: (problem) => hooks.onWriteTrouble(this.name, problem),
      onHeld: (writes) =>
        this.#rehearsal.show(
          'write',
          writes.map((write) => ({ kind: 'write', write })),
        ),
      onPublished: () => this.#onPublished(),
    });
    context.inventory.track(instanceId, recalled, clock.monotonic(), mentionedIn(node));
    this.wake();
  }

  /** Takes a newer state of the object; it must be of the same node. */
  update(node: CiliumNode): void {
    const previous = this.#known.node;
    this.#known.node = node;
    if (!this.#isOurs && this.#context.mayBePredecessors(node)) this.#recall(previous, node);
    if (isOursToWrite(this.#assessment)) this.#context.onNewerState(previous, node);
    // Whoever publishes right now looks at the newest state when its write has ended: our own writes need no decision,
    // unless something is on its way out, which goes on once it is known to be struck.
    if (!this.#isPublishing || this.#cloud.takesBack || !asksTheSame(previous, node)) this.wake();
    else if (!this.#isOurs) this.#isNewerThanLook = true;
  }

  #observe(raw: JsonObject, isOurs: boolean): void {
    this.#isOurs = isOurs;
    try {
      this.#context.observe(raw);
    } finally {
      this.#isOurs = false;
    }
  }

  /** What a leader before us showed counts, also where the state that we began with was an older one. */
  #recall(previous: CiliumNode, node: CiliumNode): void {
    const { inventory, implementation, clock } = this.#context;
    const interfaces = shownSince(previous, node, this.instanceId, implementation);
    inventory.recallAlso(this.instanceId, { interfaces, mentioned: mentionedIn(node) }, clock.monotonic());
  }

  get urgency(): Urgency {
    return this.#assessment.kind === 'served' ? urgencyOf(this.#assessment.usage) : 'toppingUp';
  }

  /** Pods wait for what they were given until it is written. */
  get #urgencyToPublish(): Urgency {
    return this.waitingPods > 0 ? 'starving' : this.urgency;
  }

  get waitingPods(): number {
    return this.#known.waitingPods;
  }

  set waitingPods(count: number) {
    if (this.#known.waitingPods === count) return;
    this.#known.waitingPods = count;
    this.wake();
  }

  /** Something that the node depends on changed. */
  wake(): void {
    this.#context.hooks.onMaintenanceRequested();
    this.#maintenance.fire();
  }

  /** Begins nothing more; resolves once what was begun has ended, which `deadline` cuts short. */
  async stop(deadline: AbortSignal): Promise<void> {
    for (const cancel of this.#timers.values()) cancel();
    await Promise.all([this.#maintenance.stop(), this.#publication.stop(), this.#cloud.stop(deadline)]);
    this.#context.inventory.untrack(this.instanceId, this.#context.clock.monotonic());
  }

  figures(): NodeFigures {
    return {
      protocol: protocolOf(this.#known.node),
      assessment: this.#assessment,
      diagnosis: this.#diagnosis,
      remarks: this.#remarks.list,
      view: this.#known.view,
      shortSince: this.#shortSince?.at,
    };
  }

  #evaluate(): Promise<void> {
    const { view } = this.#known;
    this.#assessment = this.#known.assess();
    if (view !== undefined) this.#askWhereUnclear(view);
    // Before the plan: what is still there and needed after all costs no call.
    if (this.#cloud.releaser.evaluate()) this.#assessment = this.#known.assess();
    this.#cloud.idle.evaluate();
    const plan = this.#cloud.maintainer.evaluate();
    this.#rehearsal.show(
      'step',
      (plan?.steps ?? []).map((step) => ({ kind: 'step', step })),
    );
    if (plan?.obstacle?.kind === 'subnetsExhausted') this.#awaitSubnets(plan.obstacle.subnetIds);
    if (this.#context.permission.refusal('give') === undefined) this.#cloud.staticAddress.evaluate();
    if (view !== undefined) this.#keepHouse(view);
    this.#noticeShortage();
    this.#remark(view);
    this.#announce(this.#diagnose(plan));
    this.#publishWhatLacks();
    this.#hurry();
    return Promise.resolve();
  }

  /**
   * Most decisions change nothing that is shown. Whoever publishes already looks again after each of its writes, or once it
   * may try again where the API server cannot be reached.
   */
  #publishWhatLacks(): void {
    if (this.#isPublishing || !this.#publisher.lacks()) return;
    this.#context.hooks.onPublicationRequested();
    this.#publication.fire();
  }

  /** Who waits for a place to publish goes by the urgency of now. */
  #hurry(): void {
    const before = this.#urgencyDecided;
    this.#urgencyDecided = this.#urgencyToPublish;
    const hasRisen = rankOf(this.#urgencyDecided) < rankOf(before);
    if (this.#isPublishing && hasRisen) this.#context.publications.reconsider();
  }

  #keepHouse({ interfaces }: InstanceView): void {
    const assessment = this.#assessment;
    if (assessment.kind !== 'served' || !assessment.requirements.deleteOnTermination) return;
    const left = this.#cloud.deleteOnTermination.evaluate(interfaces);
    this.#rehearsal.show(
      'deleteOnTermination',
      left.map((interfaceId) => ({ kind: 'deleteOnTermination', interfaceId })),
    );
  }

  #askWhereUnclear(view: InstanceView): void {
    const { clock, look, listingUnderway } = this.#context;
    const due = view.read ? view.lookDue : listingUnderway(this.instanceId) ? undefined : 0;
    if (due === undefined) return;
    const wait = due - clock.monotonic();
    if (wait > 0) this.#later('look', wait, () => this.wake());
    // While one look is under way it is not known yet what it leaves unclear.
    if (wait > 0 || this.#isLooking) return;
    this.#isLooking = true;
    void look(this.instanceId).then(() => {
      this.#isLooking = false;
      this.wake();
    });
  }

  /** A subnet that said "exhausted" is asked again as soon as it may be. */
  #awaitSubnets(subnetIds: readonly string[]): void {
    const now = this.#context.clock.monotonic();
    const aside = this.#context.ledger.setAside(now);
    const again = Math.min(...subnetIds.map((id) => aside.get(id) ?? Infinity));
    if (again < Infinity) this.#later('subnets', again - now, () => this.wake());
  }

  #diagnose(plan: AllocationPlan | undefined): Diagnosis | undefined {
    const assessment = this.#assessment;
    if (assessment.kind === 'unread') return this.#diagnosis;
    if (assessment.kind !== 'served') return assessment.diagnosis;
    const { ledger, clock } = this.#context;
    if (plan?.obstacle !== undefined)
      return diagnoseObstacle(plan.obstacle, (subnetId) => ledger.isGone(subnetId, clock.monotonic()));
    const trouble = this.#diagnoseTrouble(assessment.wanted, plan);
    return trouble ?? this.#cap.diagnose(assessment) ?? diagnoseClaim(this.#desired.claimed);
  }

  #diagnoseTrouble(wanted: number, plan: AllocationPlan | undefined): Diagnosis | undefined {
    const failure = wanted > 0 ? this.#cloud.maintainer.trouble : undefined;
    if (failure !== undefined) return diagnoseFailure(failure);
    const refusal = this.#context.permission.refusal('give');
    // A dry run says what it would do instead.
    if (refusal === undefined || refusal === 'dryRun') return undefined;
    return plan === undefined || plan.steps.length === 0 ? undefined : mutationsStopped(refusal);
  }

  #announce(diagnosis: Diagnosis | undefined): void {
    if (diagnosis?.text === this.#diagnosis?.text) return;
    this.#diagnosis = diagnosis;
    this.#context.hooks.onDiagnosis(this.#known.node, diagnosis);
  }

  #remark(view: InstanceView | undefined): void {
    const assessment = this.#assessment;
    const requirements = 'requirements' in assessment ? assessment.requirements : undefined;
    this.#remarks.tell(this.#known.node, { view, requirements, staticIp: this.#cloud.staticAddress.remark });
  }

  #standInLine(start: Begin): () => void {
    this.#isPublishing = true;
    return this.#context.publications.enter({ urgency: () => this.#urgencyToPublish }, start);
  }

  async #publish(signal: AbortSignal): Promise<void> {
    // What came while it stood in line is seen by its first look.
    this.#isNewerThanLook = false;
    const again = await this.#publisher.run(signal).finally(() => {
      this.#isPublishing = false;
    });
    if (this.#isNewerThanLook) this.wake();
    if (again !== undefined) this.#later('publish', again, () => this.#publication.fire());
  }

  #onClaimed(claimed: Claimed): void {
    this.wake();
    if (claimed.withheld.size + claimed.shared.size > 0)
      this.#context.hooks.onContested(this.instanceId, claimed);
  }

  #noticeShortage(): void {
    if (this.#assessment.kind !== 'served' || this.#assessment.wanted === 0) return;
    this.#shortSince ??= { at: this.#context.clock.monotonic(), calls: this.#cloud.calls };
  }

  #onPublished(): void {
    this.#desired.published();
    const supplied = this.#assessment.kind === 'served' && this.#assessment.wanted === 0;
    if (this.#shortSince === undefined || !supplied) return;
    const duration = this.#context.clock.monotonic() - this.#shortSince.at;
    this.#context.hooks.onSupplied(duration, this.#cloud.calls - this.#shortSince.calls);
    this.#shortSince = undefined;
  }

  #later(what: Wait, ms: number, action: () => void): void {
    this.#timers.get(what)?.();
    const cancel = this.#context.clock.schedule(ms, () => {
      this.#timers.delete(what);
      action();
    });
    this.#timers.set(what, cancel);
  }
}

/** Whether the agent and its owner want what they wanted before. */
function asksTheSame(a: CiliumNode, b: CiliumNode): boolean {
  return demandIn(a) === demandIn(b);
}

function demandIn({ ipam, eni, deleting, ignored, status }: CiliumNode): string {
  const asked = { ...ipam, pool: undefined };
  return JSON.stringify([asked, eni, deleting, ignored, [...status.used], [...status.releaseIps]]);
}

function isOursToWrite(assessment: Assessment): boolean {
  const { kind } = assessment;
  return kind === 'served' || (kind === 'setAside' && assessment.requirements !== undefined);
}
