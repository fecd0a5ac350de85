// Composes the cloud operations of one node: allocation, release and housekeeping. Each knows of the others
// only which interfaces they are working on.
import type { Answer } from '../../providers/contract/observation.ts';
import type { AllocationImplementation } from '../../providers/contract/allocation-implementation.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { TaskGroup } from '../../runtime/task-group.ts';
import type { Priority } from '../../providers/contract/priority.ts';
import type { Random } from '../../runtime/random.ts';
import { Releaser } from '../release/releaser.ts';
import { DeleteOnTermination } from '../housekeeping/delete-on-termination.ts';
import { type InterfaceRelease, IdleInterfaces } from '../release/idle-interfaces.ts';
import type { NodeState } from './node-state.ts';
import type { NodeContext } from './node-context.ts';
import { PoolMaintainer } from '../allocate/pool-maintainer.ts';
import { StaticAddress } from '../housekeeping/static-ip.ts';
import { onlyIfVerified } from '../release/release-permission.ts';
import type { FinishedRelease } from '../release/unassign.ts';

export interface NodeOperationsDeps {
  readonly name: string;
  readonly instanceId: string;
  readonly context: NodeContext;
  /** The permission for this node. */
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly random: Random;
  readonly state: NodeState;
  /** How urgently the node needs addresses now. */
  readonly priority: () => Priority;
  /** The tasks of all parts. Whenever one ends, every part takes its next step. */
  readonly tasks: TaskGroup;
}

export class NodeOperations {
  readonly releaser: Releaser;
  readonly idle: IdleInterfaces;
  readonly maintainer: PoolMaintainer;
  readonly deleteOnTermination: DeleteOnTermination;
  readonly staticAddress: StaticAddress;
  readonly #deps: NodeOperationsDeps;
  #calls = 0;

  constructor(deps: NodeOperationsDeps) {
    this.#deps = deps;
    const { name, instanceId, context, permission, random, state, priority, tasks } = deps;
    const { hooks, clock, timing } = context;
    const refresh = (): Promise<void> => state.refresh();
    const ownPermission = onlyIfVerified(permission, () => context.identities.isVerified(name, instanceId));
    // Each node holds a copy, so it contains only what most parts need.
    const shared = {
      implementation: this.#counting(context.implementation),
      instanceId,
      random,
      clock,
      permission,
      timing,
      tasks,
      applyAnswer: (answer: Answer) => state.applyAnswer(answer),
      invalidate: (from: number) => state.invalidate(from),
    };
    this.releaser = new Releaser({
      ...shared,
      permission: ownPermission,
      policy: context.releasePolicy,
      traits: context.implementation.traits,
      releases: state.releases,
      node: state,
      onRelease: (release) => this.#onRelease(release),
      onRetired: (holdings) => hooks.onRetired(name, holdings),
    });
    this.idle = new IdleInterfaces({
      ...shared,
      permission: ownPermission,
      delay: context.releasePolicy.idleDelay,
      phases: state.idle,
      node: state,
      onInterfaceRelease: (given) => this.#onInterfaceRelease(given),
    });
    this.maintainer = new PoolMaintainer({
      ...shared,
      growth: state.growth,
      facts: () => state.forAllocation(),
      priority,
      refresh,
      ledger: context.ledger,
      blocked: context.blocked,
      orphans: context.orphans,
      interfaceTags: context.interfaceTags,
      visibilityLag: context.visibilityLag,
      spreadCalls: context.spreadCalls,
      adopt: (item) => context.inventory.adopt(item),
      abandon: (interfaceId) => context.inventory.abandon(interfaceId),
      onStep: (step) => hooks.onStep(name, step),
    });
    this.deleteOnTermination = new DeleteOnTermination({
      ...shared,
      onFailure: (interfaceId, failure) => hooks.onHousekeepingFailure(name, interfaceId, failure),
    });
    this.staticAddress = new StaticAddress({
      ...shared,
      publicAddresses: context.publicAddresses,
      refresh,
      facts: () => state.forStaticAddress(),
      onAssociated: (address, interfaceId) => hooks.onStaticIp(name, address, interfaceId),
    });
  }

  /** Number of operations started for the node. */
  get calls(): number {
    return this.#calls;
  }

  #counting(implementation: AllocationImplementation): AllocationImplementation {
    return {
      ...implementation,
      perform: (operation, context) => {
        this.#calls++;
        return implementation.perform(operation, context);
      },
    };
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.maintainer.close();
    await this.#deps.tasks.stop(deadline);
    this.staticAddress.close();
  }

  #onRelease(release: FinishedRelease): void {
    const { ledger, clock, hooks } = this.#deps.context;
    const { subnetId, count, failure } = release;
    hooks.onRelease(this.#deps.name, release);
    if (failure !== undefined) return;
    ledger.released(subnetId, count, clock.monotonic());
    hooks.onSpace();
  }

  #onInterfaceRelease(given: InterfaceRelease): void {
    const { ledger, clock, hooks } = this.#deps.context;
    hooks.onInterfaceRelease(this.#deps.name, given);
    if (given.failure !== undefined) return;
    ledger.released(given.subnetId, 1, clock.monotonic());
    hooks.onSpace();
  }
}
