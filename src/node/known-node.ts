// What is known of a node now, by its CiliumNode and by what the cloud shows of its instance, in the shape that each of those
// who decide by it needs.
import type { CiliumNode } from '../kubernetes/cilium-node.ts';
import { textAt } from '../kubernetes/json.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { Answer } from '../providers/observation.ts';
import type { ReleasableFacts } from './address-releaser.ts';
import { type Assessment, type AssessmentFacts, assess } from './assessment.ts';
import { podAddresses, unconfirmedIn } from './capacity.ts';
import type { IdleFacts } from './idle-interfaces.ts';
import type { NodeContext } from './node-context.ts';
import type { MaintainedFacts } from './pool-maintainer.ts';
import type { StaticAddressFacts } from './static-address.ts';
import { roomUnder } from './statistics.ts';

type ChangingFacts = Omit<AssessmentFacts, 'limitsOf' | 'options'>;

export class KnownNode {
  /** The newest state of the object. */
  node: CiliumNode;
  waitingPods = 0;
  readonly #uid: string;
  readonly #instanceId: string;
  readonly #context: NodeContext;
  readonly #outgoing: () => ReadonlySet<string>;
  /** Told, and not mended since. */
  #readTrouble: string | undefined;
  #last: { readonly facts: ChangingFacts; readonly assessment: Assessment } | undefined;

  /** `outgoing`: addresses that are on their way out. */
  constructor(
    node: CiliumNode,
    instanceId: string,
    context: NodeContext,
    outgoing: () => ReadonlySet<string>,
  ) {
    this.node = node;
    this.#uid = node.uid;
    this.#instanceId = instanceId;
    this.#context = context;
    this.#outgoing = outgoing;
  }

  /** Undefined while the instance is not tracked. */
  get view(): InstanceView | undefined {
    return this.#context.inventory.view(this.#instanceId);
  }

  /** The same object as long as the node is served and nothing of what it depends on changed. */
  assess(): Assessment {
    const { infrastructure, limitsOf, assessmentOptions: options } = this.#context;
    const { node, view, waitingPods } = this;
    if (view === undefined) return { kind: 'unread' };
    const facts = { node, view, waitingPods, outgoing: this.#outgoing(), infrastructure: infrastructure() };
    if (this.#last !== undefined && isSame(this.#last.facts, facts)) return this.#last.assessment;
    const assessment = assess({ ...facts, limitsOf, options });
    // What keeps a node from being served may be a type that has been read in the meantime.
    this.#last = assessment.kind === 'served' ? { facts, assessment } : undefined;
    return assessment;
  }

  /** For a plan; undefined, as with those below, while the node cannot be served. */
  forAllocation(): MaintainedFacts | undefined {
    const { infrastructure, ledger, orphans, clock } = this.#context;
    const { view } = this;
    const assessment = this.assess();
    if (view === undefined || assessment.kind !== 'served') return undefined;
    const now = clock.monotonic();
    const unconfirmed = unconfirmedIn(view);
    return {
      view,
      limits: assessment.limits,
      requirements: assessment.requirements,
      infrastructure: infrastructure(),
      free: (subnetId) => ledger.free(subnetId, now),
      mostPrefixes: (subnetId) => ledger.mostPrefixes(subnetId, now),
      // What a predecessor may have brought is waited for, a consistency window at most.
      wanted: Math.max(0, assessment.wanted - unconfirmed),
      most: roomUnder(podAddresses(view, assessment.requirements).size + unconfirmed, assessment.marks),
      orphans: orphans.of(this.#instanceId),
    };
  }

  forRelease(): ReleasableFacts | undefined {
    const { view } = this;
    const assessment = this.assess();
    if (view === undefined || assessment.kind !== 'served') return undefined;
    const { requirements, excess, wanted } = assessment;
    return { node: this.node, view, requirements, excess, wanted };
  }

  forIdleInterfaces(): IdleFacts | undefined {
    const facts = this.forRelease();
    return facts && { ...facts, isShort: facts.wanted > 0 };
  }

  /** Takes the CiliumNode as it is now; false where it cannot be had, or is another's by now. */
  async readAnew(signal: AbortSignal): Promise<boolean> {
    const { writer, observe, hooks } = this.#context;
    const { name } = this.node;
    const live = await writer.get(name, signal);
    if (live.kind !== 'found') {
      const trouble = live.kind === 'denied' ? live.message : undefined;
      if (trouble !== undefined && trouble !== this.#readTrouble) hooks.onReadTrouble(name, trouble);
      this.#readTrouble = trouble;
      return false;
    }
    this.#readTrouble = undefined;
    observe(live.raw);
    return this.node.uid === this.#uid && textAt(live.raw, 'metadata', 'uid') === this.#uid;
  }

  forStaticAddress(): StaticAddressFacts | undefined {
    const tags = this.node.ipam.staticIpTags;
    const { view } = this;
    const isAsked = view !== undefined && Object.keys(tags).length > 0;
    return isAsked && this.assess().kind === 'served' ? { view, tags } : undefined;
  }

  /** Takes the answer to a call of ours. */
  fold(answer: Answer): void {
    const { inventory, clock, onChanged } = this.#context;
    onChanged(inventory.foldAnswer(answer, clock.monotonic()));
  }
}

function isSame(a: ChangingFacts, b: ChangingFacts): boolean {
  return (
    a.node === b.node &&
    a.view === b.view &&
    a.waitingPods === b.waitingPods &&
    a.outgoing === b.outgoing &&
    a.infrastructure === b.infrastructure
  );
}
