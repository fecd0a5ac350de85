// Executes one step of a plan with its calls. It makes sure that no interface or assignment is lost on the way.
import type { CallContext, CloudTraits, InstancePort } from '../../providers/contract/cloud.ts';
import { type InstanceView, unusableIn } from '../../providers/contract/facts.ts';
import type {
  AllocateIPs,
  AllocateIpv6Prefix,
  AllocatePrefixes,
  CallTiming,
} from '../../providers/contract/operations.ts';
import { mayConcern } from '../../providers/contract/failure-policy.ts';
import { secondaryAssignments, type Tags } from '../../providers/contract/network-interface.ts';
import type { PermittedNode } from '../../providers/gate/mutation-permission.ts';
import type { Priority } from '../../providers/contract/priority.ts';
import type { SubnetLedger } from '../../providers/catalog/subnet-ledger.ts';
import type { Inventory } from '../../providers/inventory/inventory.ts';
import type { Orphans } from '../../providers/orphans/orphans.ts';
import { descriptionPrefix, ownershipTags } from '../../providers/orphans/ownership-tags.ts';
import type { VisibilityLag } from '../../providers/inventory/visibility-lag.ts';
import type { TaskRuntime } from '../../runtime/task-group.ts';
import { adoptInterface, createInterface, type CreateInterfaceDeps } from './create-interface.ts';
import type { BlockedResources } from './blocked-resources.ts';
import type { Assignment, Growth } from './growth.ts';
import { type LostAssignments, shownOn } from './lost-assignments.ts';
import type { AllocationFacts } from './allocation-facts.ts';
import type { StepEvent, StepResult } from './step-result.ts';
import { deviceIndexOf, type PlannedStep, subnetAddressesUsed } from './planned-step.ts';

export interface StepExecutionDeps {
  readonly node: GrowingNode;
  readonly supply: AllocationSupply;
  /** Learns of an orphaned interface before it is attached, and when the attempt is abandoned. */
  readonly inventory: Pick<Inventory, 'adopt' | 'abandon'>;
  readonly settings: AllocationSettings;
  readonly runtime: TaskRuntime;
}

/** The node that gets addresses. */
export interface GrowingNode extends InstancePort, PermittedNode {
  /** The facts that a plan is based on; undefined while the node cannot be served. */
  forAllocation(): MaintainedFacts | undefined;
  readonly growth: Growth;
  /** How urgently it needs addresses now. */
  readonly priority: Priority;
  tell(event: StepEvent): void;
}

/** The supply that all nodes take from. */
export interface AllocationSupply {
  readonly ledger: SubnetLedger;
  /** Scopes that the cloud refused, across all nodes. */
  readonly blocked: Pick<
    BlockedResources,
    'refusalOf' | 'beginTry' | 'refused' | 'worked' | 'awaitChange' | 'dueAt'
  >;
  /** Orphaned interfaces of this cluster. */
  readonly orphans: Pick<Orphans, 'beginCreation' | 'claim'>;
  /** How long the cloud takes to know a new interface. */
  readonly visibilityLag: VisibilityLag;
}

export interface AllocationSettings {
  readonly timing: CallTiming;
  /** Until when calls of a former leader may take effect unseen, in monotonic ms; -Infinity if there was none. */
  readonly formerUntil: () => number;
  /** Tags of created interfaces. */
  readonly interfaceTags: Tags;
  /** Whether rate limits may decide between an existing and a new interface while pods wait. */
  readonly spreadCalls: boolean;
}

/** The facts of a plan as the node knows them, without what its maintainer keeps. */
export interface MaintainedFacts extends Omit<AllocationFacts, 'ongoing' | 'calls'> {
  readonly traits: CloudTraits;
  /** Interfaces from which addresses are being removed, so none may be added. */
  readonly shrinking: ReadonlySet<string>;
}

export class StepExecution {
  readonly #deps: StepExecutionDeps;
  readonly #lost: LostAssignments;

  constructor(deps: StepExecutionDeps, lost: LostAssignments) {
    this.#deps = deps;
    this.#lost = lost;
  }

  /**
   * Resolves once all calls of the step have ended; rejects with the reason of the signal, or because of a
   * bug.
   */
  carryOut(step: PlannedStep, emit: CreateInterfaceDeps['emit']): Promise<StepResult> {
    switch (step.kind) {
      case 'allocateIPs':
      case 'allocatePrefixes':
      case 'allocateIpv6Prefix':
        this.#lost.sent();
        return this.#assign(step).finally(() => this.#lost.ended());
      case 'adoptInterface':
        return this.#adopt(step, emit);
      case 'createInterface':
        return this.#create(step, emit);
    }
  }

  async #create(
    step: PlannedStep & { kind: 'createInterface' },
    emit: CreateInterfaceDeps['emit'],
  ): Promise<StepResult> {
    const { node, supply, settings, inventory } = this.#deps;
    const { random, clock } = this.#deps.runtime;
    const { instanceId } = node;
    const token = random.uuid();
    const request = {
      kind: 'createInterface',
      instanceId,
      subnetId: step.subnetId,
      securityGroupIds: step.securityGroupIds,
      addressCount: step.count,
      prefixCount: step.prefixCount,
      ...(step.ipv6Prefix === true && { ipv6Prefix: step.ipv6Prefix }),
      description: `${descriptionPrefix}${instanceId})`,
      tags: { ...settings.interfaceTags, ...ownershipTags(instanceId, token) },
      deviceIndex: step.deviceIndex,
      token,
    } as const;
    const end = supply.orphans.beginCreation(token);
    // The default after a bug: it is unknown how far the step came.
    let leavesSomething = true;
    try {
      const result = await createInterface(request, this.#unitDeps(emit));
      leavesSomething = result.kind === 'failed' && (result.left !== undefined || result.uncertain);
      if (result.kind === 'attached') return this.#attached(result.interfaceId);
      if (result.left !== undefined) inventory.abandon(result.left);
      return { ...result, taken: leavesSomething ? subnetAddressesUsed(step) : 0 };
    } finally {
      end(leavesSomething ? { instanceId, at: clock.monotonic() } : undefined);
    }
  }

  async #adopt(
    step: PlannedStep & { kind: 'adoptInterface' },
    emit: CreateInterfaceDeps['emit'],
  ): Promise<StepResult> {
    const { node, supply, inventory } = this.#deps;
    const { instanceId } = node;
    const { interfaceId, deviceIndex } = step;
    const claim = supply.orphans.claim(interfaceId);
    if (claim === undefined) throw new Error('an interface to be adopted is already in use');
    inventory.adopt(claim.interface);
    let end: 'gone' | 'unfit' | 'kept' = 'kept';
    try {
      const failure = await adoptInterface({ interfaceId, instanceId, deviceIndex }, this.#unitDeps(emit));
      if (failure === undefined) {
        end = 'gone';
        return this.#attached(interfaceId);
      }
      if (failure.kind === 'interfaceGone') end = 'gone';
      else if (mayConcern(failure, 'thing')) end = 'unfit';
      inventory.abandon(interfaceId);
      return { kind: 'failed', at: 'attach', failure, taken: 0, left: undefined };
    } finally {
      claim.release(end);
    }
  }

  get #view(): InstanceView | undefined {
    return this.#deps.node.forAllocation()?.view;
  }

  get #context(): CallContext {
    const { node, runtime } = this.#deps;
    return { caller: node, signal: runtime.tasks.deadline };
  }

  #attached(interfaceId: string): StepResult {
    const { attachment } = this.#view?.interfaces.find(({ id }) => id === interfaceId) ?? {};
    return { kind: 'done', interfaceId, ...(attachment?.state === 'attaching' && { isAttaching: true }) };
  }

  #unitDeps(emit: CreateInterfaceDeps['emit']): CreateInterfaceDeps {
    const { node, supply, settings, runtime } = this.#deps;
    const { clock, random } = runtime;
    const attachments = (): readonly { id: string; deviceIndex: number | undefined }[] => {
      const view = this.#view;
      if (view === undefined) return [];
      const read = view.interfaces.map(({ id, attachment }) => ({
        id,
        deviceIndex: attachment?.deviceIndex,
      }));
      return [...read, ...unusableIn(view)];
    };
    return {
      node: {
        implementation: node.implementation,
        applyAnswer: (answer) => node.applyAnswer(answer),
        refresh: () => node.refresh(),
        attachedAt: (interfaceId) => attachments().find(({ id }) => id === interfaceId)?.deviceIndex,
        indexAfter: (index) => {
          const coming = [...node.growth.steps].map(deviceIndexOf);
          const taken = new Set([...attachments().map(({ deviceIndex }) => deviceIndex), ...coming]);
          let next = index + 1;
          while (taken.has(next)) next++;
          return next;
        },
      },
      clock,
      random,
      consistencyWindow: settings.timing.consistencyWindow,
      context: this.#context,
      visibilityLag: supply.visibilityLag,
      emit,
    };
  }

  /**
   * The addresses that the interface shows, and the most that it may have then; a former leader may have assigned some
   * unseen.
   */
  #bounds(step: Assignment): { readonly before: ReadonlySet<string>; readonly max: number } {
    const { view, need } = this.#deps.node.forAllocation() ?? {};
    const before = new Set(shownOn(view, step));
    const unconfirmed = view?.unconfirmed.get(step.interfaceId)?.length ?? 0;
    return { before, max: before.size + unconfirmed + (need?.max ?? Infinity) };
  }

  async #assign(step: Assignment): Promise<StepResult> {
    const { node, runtime } = this.#deps;
    const lost = this.#lost;
    const { implementation, instanceId } = node;
    const { interfaceId } = step;
    const isRecognized = implementation.traits.repeatedAssignment === 'isRecognized';
    const { before, max } = this.#bounds(step);
    const operationId = isRecognized ? runtime.random.uuid() : undefined;
    const outcome = await implementation.perform(
      operationFor(step, { instanceId, max, operationId }),
      this.#context,
    );
    if (outcome.kind === 'done') {
      if (outcome.answer.kind === 'allocated') {
        lost.answered(secondaryAssignments(outcome.answer));
      }
      node.applyAnswer(outcome.answer);
      return { kind: 'done', interfaceId };
    }
    const ambiguous = outcome.kind === 'ambiguous';
    if (ambiguous) lost.answerLost(step, before);
    else if (outcome.failure.kind === 'interfaceGone')
      node.applyAnswer({ kind: 'notFound', interfaceId, instanceId });
    return {
      kind: 'failed',
      at: step.kind === 'allocateIpv6Prefix' ? 'allocateIpv6' : 'allocate',
      failure: outcome.failure,
      taken: ambiguous ? subnetAddressesUsed(step) : 0,
      left: undefined,
    };
  }
}

interface AssignmentBounds {
  readonly instanceId: string;
  /** The most that its interface may have then. */
  readonly max: number;
  readonly operationId: string | undefined;
}

function operationFor(
  { kind, interfaceId, count }: Assignment,
  { instanceId, max, operationId }: AssignmentBounds,
): AllocateIPs | AllocatePrefixes | AllocateIpv6Prefix {
  if (kind === 'allocateIpv6Prefix') return { kind, instanceId, interfaceId };
  const operation = { kind, instanceId, interfaceId, count, max };
  return operationId === undefined ? operation : { ...operation, operationId };
}
