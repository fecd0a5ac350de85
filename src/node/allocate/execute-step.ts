// Executes one step of a plan with its calls. It makes sure that no interface or assignment is lost on the way.
import type {
  AllocationImplementation,
  CallContext,
} from '../../providers/contract/allocation-implementation.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';
import { mayConcern } from '../../providers/contract/failure-policy.ts';
import { type InstanceView, unusableIn } from '../../providers/contract/instance-view.ts';
import type { NetworkInterface, Tags } from '../../providers/contract/network-interface.ts';
import type { Answer } from '../../providers/contract/observation.ts';
import type { Orphans } from '../../providers/orphans/orphans.ts';
import { descriptionPrefix, ownershipTags } from '../../providers/orphans/ownership-tags.ts';
import type { VisibilityLag } from '../../providers/inventory/visibility-lag.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CallTiming } from '../../providers/contract/call-timing.ts';
import { adoptInterface, createInterface, type CreateInterfaceDeps } from './create-interface.ts';
import type { StepResult } from './step-result.ts';
import { type Assignment, type LostAssignments, shownOn } from './lost-assignments.ts';
import { deviceIndexOf, type PlannedStep, subnetAddressesUsed } from './planned-step.ts';

export interface StepExecutionDeps {
  readonly instanceId: string;
  readonly implementation: AllocationImplementation;
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: CallTiming;
  /** Tags of created interfaces. */
  readonly interfaceTags: Tags;
  readonly orphans: Pick<Orphans, 'begin' | 'claim'>;
  readonly lost: Pick<LostAssignments, 'sent' | 'ended' | 'answerLost' | 'answered'>;
  /** Steps whose calls are in flight. */
  readonly stepsInFlight: Iterable<PlannedStep>;
  /** The current view of the instance; undefined while the node cannot be served. */
  readonly view: () => InstanceView | undefined;
  readonly context: () => CallContext;
  readonly applyAnswer: (answer: Answer) => void;
  /** Called before an orphaned interface is attached, and when the attempt is abandoned. */
  readonly adopt: (item: NetworkInterface) => void;
  readonly abandon: (interfaceId: string) => void;
  readonly refresh: () => Promise<void>;
  readonly visibilityLag: VisibilityLag;
  /** Called when a call was throttled; it is retried. */
  readonly onThrottle: (failure: CloudFailure) => void;
}

export class StepExecution {
  readonly #deps: StepExecutionDeps;

  constructor(deps: StepExecutionDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves once all calls of the step have ended; rejects with the reason of the signal, or because of a
   * bug. `onRefused`: the step certainly brings nothing, but what it created waits for deletion.
   */
  carryOut(step: PlannedStep, onRefused: (failure: CloudFailure) => void): Promise<StepResult> {
    switch (step.kind) {
      case 'allocateIPs':
      case 'allocatePrefixes':
        return this.#allocate(step);
      case 'adoptInterface':
        return this.#adopt(step);
      case 'createInterface':
        return this.#create(step, onRefused);
    }
  }

  async #create(
    step: PlannedStep & { kind: 'createInterface' },
    onRefused: CreateInterfaceDeps['onRefused'],
  ): Promise<StepResult> {
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
      deviceIndex: step.deviceIndex,
      token,
    } as const;
    const end = orphans.begin(token);
    // The default after a bug: it is unknown how far the step came.
    let leavesSomething = true;
    try {
      const result = await createInterface(request, this.#unitDeps(onRefused));
      leavesSomething = result.kind === 'failed' && (result.left !== undefined || result.uncertain);
      if (result.kind === 'attached') return this.#attached(result.interfaceId);
      if (result.left !== undefined) abandon(result.left);
      return { ...result, taken: leavesSomething ? subnetAddressesUsed(step) : 0 };
    } finally {
      end(leavesSomething ? { instanceId, at: clock.monotonic() } : undefined);
    }
  }

  async #adopt(step: PlannedStep & { kind: 'adoptInterface' }): Promise<StepResult> {
    const { instanceId, orphans, adopt, abandon } = this.#deps;
    const { interfaceId, deviceIndex } = step;
    const claim = orphans.claim(interfaceId);
    if (claim === undefined) throw new Error('an interface to be adopted is already in use');
    adopt(claim.interface);
    let end: 'gone' | 'unfit' | 'kept' = 'kept';
    try {
      const failure = await adoptInterface({ interfaceId, instanceId, deviceIndex }, this.#unitDeps());
      if (failure === undefined) {
        end = 'gone';
        return this.#attached(interfaceId);
      }
      if (failure.kind === 'interfaceGone') end = 'gone';
      else if (mayConcern(failure, 'thing')) end = 'unfit';
      abandon(interfaceId);
      return { kind: 'failed', at: 'attach', failure, taken: 0, left: undefined };
    } finally {
      claim.release(end);
    }
  }

  #attached(interfaceId: string): StepResult {
    const { attachment } = this.#deps.view()?.interfaces.find(({ id }) => id === interfaceId) ?? {};
    return { kind: 'done', interfaceId, ...(attachment?.state === 'attaching' && { isAttaching: true }) };
  }

  #unitDeps(onRefused: CreateInterfaceDeps['onRefused'] = () => undefined): CreateInterfaceDeps {
    const {
      implementation,
      clock,
      random,
      timing,
      applyAnswer,
      refresh,
      context,
      stepsInFlight,
      onThrottle,
    } = this.#deps;
    const attachments = (): readonly { id: string; deviceIndex: number | undefined }[] => {
      const view = this.#deps.view();
      if (view === undefined) return [];
      const read = view.interfaces.map(({ id, attachment }) => ({
        id,
        deviceIndex: attachment?.deviceIndex,
      }));
      return [...read, ...unusableIn(view)];
    };
    return {
      implementation,
      clock,
      random,
      consistencyWindow: timing.consistencyWindow,
      context: context(),
      applyAnswer,
      refresh,
      onThrottle,
      onRefused,
      visibilityLag: this.#deps.visibilityLag,
      attachedAt: (interfaceId) => attachments().find(({ id }) => id === interfaceId)?.deviceIndex,
      indexAfter: (index) => {
        const coming = [...stepsInFlight].map(deviceIndexOf);
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
    const { implementation, instanceId, applyAnswer, lost, context, random } = this.#deps;
    const { kind, interfaceId, count } = step;
    const isRecognized = implementation.traits.repeatedAssignment === 'isRecognized';
    const operation = { kind, instanceId, interfaceId, count } as const;
    const before = new Set(shownOn(this.#deps.view(), step));
    const outcome = await implementation.perform(
      isRecognized ? { ...operation, operationId: random.uuid() } : operation,
      context(),
    );
    if (outcome.kind === 'done') {
      if (outcome.answer.kind === 'allocated') {
        const { addresses, prefixes } = outcome.answer;
        lost.answered([...addresses, ...prefixes]);
      }
      applyAnswer(outcome.answer);
      return { kind: 'done', interfaceId };
    }
    const ambiguous = outcome.kind === 'ambiguous';
    if (ambiguous) lost.answerLost(step, before);
    else if (outcome.failure.kind === 'interfaceGone')
      applyAnswer({ kind: 'notFound', interfaceId, instanceId });
    return {
      kind: 'failed',
      at: 'allocate',
      failure: outcome.failure,
      taken: ambiguous ? subnetAddressesUsed(step) : 0,
      left: undefined,
    };
  }
}
