// Composes the cloud operations of one node: allocation, release and housekeeping. Each knows of the others
// only which interfaces they are working on.
import type { Answer } from '../../providers/contract/observation.ts';
import type { AllocationImplementation } from '../../providers/contract/allocation-implementation.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
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
  /** When the CiliumNode was last written, in monotonic ms; -Infinity if never. */
  readonly writtenAt: () => number;
  /** How urgently the node needs addresses now. */
  readonly priority: () => Priority;
  /** Called when an operation or a wait ended: every part must run `evaluate` again. */
  readonly wake: () => void;
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
    const { name, instanceId, context, permission, random, state, priority, wake, writtenAt } = deps;
    const { hooks, clock, timing, onBug } = context;
    const refresh = (): Promise<void> => context.refresh(instanceId);
    const ownPermission = onlyIfVerified(permission, () => context.identities.isVerified(name, instanceId));
    // Where a change replaces the whole instance, no two of them may overlap.
    const isWhole = context.implementation.traits.change === 'perInstance';
    const changingWith = (interfaceId: string): string | undefined => (isWhole ? undefined : interfaceId);
    // Each node holds a copy, so it contains only what most parts need.
    const shared = {
      implementation: this.#counting(context.implementation),
      instanceId,
      random,
      clock,
      permission,
      timing,
      wake,
      onBug,
      applyAnswer: (answer: Answer) => state.applyAnswer(answer),
      invalidate: (from: number) => context.inventory.invalidate(instanceId, from),
    };
    this.releaser = new Releaser({
      ...shared,
      permission: ownPermission,
      policy: context.releasePolicy,
      traits: context.implementation.traits,
      writtenAt,
      facts: () => state.forRelease(),
      isGrowing: (interfaceId) => this.maintainer.isGrowing(changingWith(interfaceId)),
      readNode: (signal) => state.reread(signal),
      onRelease: (release) => this.#onRelease(release),
      onRetired: (holdings) => hooks.onRetired(name, holdings),
    });
    this.idle = new IdleInterfaces({
      ...shared,
      permission: ownPermission,
      delay: context.releasePolicy.idleDelay,
      facts: () => state.forIdleInterfaces(),
      isBusy: (interfaceId) =>
        this.maintainer.isGrowing(interfaceId) || this.releaser.interfaces.has(interfaceId),
      refresh,
      readNode: (signal) => state.reread(signal),
      onInterfaceRelease: (given) => this.#onInterfaceRelease(given),
    });
    this.maintainer = new PoolMaintainer({
      ...shared,
      isShrinking: (interfaceId) =>
        this.releaser.isShrinking(changingWith(interfaceId)) || this.idle.leaving.has(interfaceId),
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

  /** Whether anything is leaving the node. */
  get isReleasing(): boolean {
    return this.releaser.outgoing.size > 0 || this.idle.leaving.size > 0;
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
    const { releaser, idle, maintainer, deleteOnTermination, staticAddress } = this;
    const all = [deleteOnTermination, releaser, idle, staticAddress, maintainer];
    await Promise.all(all.map((each) => each.stop(deadline)));
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
