// Carries out one step of a plan by the calls that it consists of, and sees to it that nothing is lost on the way.
import type { AllocationImplementation, CallContext } from '../providers/allocation-implementation.ts';
import type { CloudFailure } from '../providers/cloud-failure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface, Tags } from '../providers/network-interface.ts';
import type { Answer } from '../providers/observation.ts';
import type { Orphans } from '../providers/orphans.ts';
import { ownershipTags } from '../providers/ownership-tags.ts';
import type { VisibilityLag } from '../providers/visibility-lag.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { Random } from '../scheduling/random.ts';
import type { CallTiming } from './call-timing.ts';
import { adoptInterface, createInterface, type CreateInterfaceDeps } from './create-interface.ts';
import { descriptionPrefix } from './delete-on-termination.ts';
import type { StepResult } from './finished-step.ts';
import { type Assignment, type LostAssignments, shownOn } from './lost-assignments.ts';
import { deviceIndexOf, type PlannedStep, takenBy } from './planned-step.ts';

export interface StepCallsDeps {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** Tags of the interfaces that it creates. */
  readonly interfaceTags: Tags;
  readonly orphans: Pick<Orphans, 'begin' | 'claim'>;
  readonly lost: Pick<LostAssignments, 'sent' | 'ended' | 'add' | 'answered'>;
  /** Steps whose calls are under way. */
  readonly underway: Iterable<PlannedStep>;
  /** What is known now of the instance; undefined while the node cannot be served. */
  readonly view: () => InstanceView | undefined;
  readonly context: () => CallContext;
  readonly fold: (answer: Answer) => void;
  /** An interface is about to be attached that was left over; or nothing more is done to attach one. */
  readonly adopt: (item: NetworkInterface) => void;
  readonly abandon: (interfaceId: string) => void;
  readonly look: () => Promise<void>;
  readonly visibilityLag: VisibilityLag;
  /** A call was one too many; it is made again. */
  readonly onThrottle: (failure: CloudFailure) => void;
}

export class StepCalls {
  readonly #deps: StepCallsDeps;

  constructor(deps: StepCallsDeps) {
    this.#deps = deps;
  }

  /** Resolves once all calls of the step have ended; rejects with the reason of the signal, or by a bug. */
  carryOut(step: PlannedStep): Promise<StepResult> {
    switch (step.kind) {
      case 'allocateIPs':
      case 'allocatePrefixes':
        return this.#allocate(step);
      case 'adoptInterface':
        return this.#adopt(step);
      case 'createInterface':
        return this.#create(step);
    }
  }

  async #create(step: PlannedStep & { kind: 'createInterface' }): Promise<StepResult> {
    const { instanceId, interfaceTags, random, orphans, abandon, clock } = this.#deps;
    const token = random.uuid();
    const request = {
      kind: 'createInterface',
      instanceId,
      subnetId: step.subnetId,
      securityGroupIds: step.securityGroupIds,
      addressCount: step.count,
      prefixCount: step.prefixCount,
      description: `${descriptionPrefix}${instanceId})`,
      tags: { ...interfaceTags, ...ownershipTags(instanceId, token) },
      token,
    } as const;
    const end = orphans.begin(token);
    // Until it is known better: nobody knows how far a unit came that fails by a bug.
    let leavesSomething = true;
    try {
      const result = await createInterface(request, step.deviceIndex, this.#unitDeps());
      leavesSomething = result.kind === 'failed' && (result.left !== undefined || result.uncertain);
      if (result.kind === 'attached') return { kind: 'done', interfaceId: result.interfaceId };
      if (result.left !== undefined) abandon(result.left);
      return { ...result, taken: leavesSomething ? takenBy(step) : 0 };
    } finally {
      end(leavesSomething ? { instanceId, at: clock.monotonic() } : undefined);
    }
  }

  async #adopt(step: PlannedStep & { kind: 'adoptInterface' }): Promise<StepResult> {
    const { instanceId, orphans, adopt, abandon } = this.#deps;
    const { interfaceId, deviceIndex } = step;
    const claim = orphans.claim(interfaceId);
    if (claim === undefined) throw new Error('an interface was to be adopted that somebody acts on');
    adopt(claim.interface);
    let end: 'gone' | 'unfit' | 'kept' = 'kept';
    try {
      const failure = await adoptInterface({ interfaceId, instanceId, deviceIndex }, this.#unitDeps());
      if (failure === undefined) {
        end = 'gone';
        return { kind: 'done', interfaceId };
      }
      if (failure.kind === 'interfaceGone') end = 'gone';
      else if (!nothingAgainstIt.has(failure.kind)) end = 'unfit';
      abandon(interfaceId);
      return { kind: 'failed', at: 'attach', failure, taken: 0, left: undefined };
    } finally {
      claim.release(end);
    }
  }

  #unitDeps(): CreateInterfaceDeps {
    const { implementation, clock, random, timing, fold, look, context, underway, onThrottle } = this.#deps;
    const attachments = (): readonly { id: string; deviceIndex: number | undefined }[] => {
      const { interfaces = [], unreadable = [] } = this.#deps.view() ?? {};
      const read = interfaces.map(({ id, attachment }) => ({ id, deviceIndex: attachment?.deviceIndex }));
      return [...read, ...unreadable];
    };
    return {
      implementation,
      clock,
      random,
      consistencyWindow: timing.consistencyWindow,
      context: context(),
      fold,
      look,
      onThrottle,
      visibilityLag: this.#deps.visibilityLag,
      attachedAt: (interfaceId) => attachments().find(({ id }) => id === interfaceId)?.deviceIndex,
      indexAfter: (index) => {
        const coming = [...underway].map(deviceIndexOf);
        const taken = new Set([...attachments().map(({ deviceIndex }) => deviceIndex), ...coming]);
        let next = index + 1;
        while (taken.has(next)) next++;
        return next;
      },
    };
  }

  async #allocate(step: Assignment): Promise<StepResult> {
    const { lost } = this.#deps;
    lost.sent();
    try {
      return await this.#assign(step);
    } finally {
      lost.ended();
    }
  }

  async #assign(step: Assignment): Promise<StepResult> {
    const { implementation, instanceId, fold, lost, context } = this.#deps;
    const { kind, interfaceId, count } = step;
    const before = new Set(shownOn(this.#deps.view(), step));
    const outcome = await implementation.perform({ kind, instanceId, interfaceId, count }, context());
    if (outcome.kind === 'done') {
      if (outcome.answer.kind === 'allocated') {
        const { addresses, prefixes } = outcome.answer;
        lost.answered([...addresses, ...prefixes]);
      }
      fold(outcome.answer);
      return { kind: 'done', interfaceId };
    }
    const ambiguous = outcome.kind === 'ambiguous';
    if (ambiguous) lost.add(step, before);
    else if (outcome.failure.kind === 'interfaceGone') fold({ kind: 'notFound', interfaceId, instanceId });
    return {
      kind: 'failed',
      at: 'allocate',
      failure: outcome.failure,
      taken: ambiguous ? takenBy(step) : 0,
      left: undefined,
    };
  }
}

/** Failures to attach an interface that say nothing of the interface. */
const nothingAgainstIt: ReadonlySet<CloudFailure['kind']> = new Set([
  'throttled',
  'unreachable',
  'limitReached',
  'instanceGone',
  'instanceNotRunning',
  'deviceIndexTaken',
  'notAuthorized',
]);
