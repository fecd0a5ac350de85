// Composes the cloud operations of one node: allocation, release and housekeeping. Each knows of the others
// only which interfaces they are working on.
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
import { StaticAddress } from '../housekeeping/static-address.ts';
import { onlyIfVerified } from '../release/release-permission.ts';
import type { FinishedRelease } from '../release/unassignments.ts';

export interface NodePartsDeps {
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

export class NodeParts {
  readonly releaser: Releaser;
  readonly idle: IdleInterfaces;
  readonly maintainer: PoolMaintainer;
  readonly deleteOnTermination: DeleteOnTermination;
  readonly staticAddress: StaticAddress;
  readonly #deps: NodePartsDeps;

  constructor(deps: NodePartsDeps) {
    this.#deps = deps;
    const { context, permission, random, state, priority, tasks } = deps;
    const { cloud, emit, settings, identities } = context;
    const { clock } = context.runtime;
    const { timing } = settings;
    const { name } = state.node;
    const ownPermission = onlyIfVerified(permission, () => identities.isVerified(name, state.instanceId));
    // Each node holds a copy, so it contains only what most parts need.
    const shared = { node: state, clock, random, permission, tasks };
    this.releaser = new Releaser({
      ...shared,
      permission: ownPermission,
      timing,
      policy: settings.release,
      emit: (event) =>
        event.kind === 'release' ? this.#onRelease(event.release) : emit({ ...event, node: state.node }),
    });
    this.idle = new IdleInterfaces({
      ...shared,
      permission: ownPermission,
      delay: settings.release.idleDelay,
      onInterfaceRelease: (given) => this.#onInterfaceRelease(given),
    });
    this.maintainer = new PoolMaintainer({
      node: state,
      supply: cloud.supply,
      inventory: cloud.inventory,
      settings,
      runtime: { clock, random, tasks },
      permission,
      priority,
      onStep: (finished) => emit({ kind: 'step', node: state.node, finished }),
    });
    this.deleteOnTermination = new DeleteOnTermination({
      ...shared,
      timing,
      onFailure: (interfaceId, failure) =>
        emit({ kind: 'housekeepingFailure', node: state.node, interfaceId, failure }),
    });
    this.staticAddress = new StaticAddress({
      ...shared,
      publicAddresses: cloud.supply.publicAddresses,
      onAssociated: (publicAddress, interfaceId) =>
        emit({ kind: 'staticAddress', node: state.node, publicAddress, interfaceId }),
    });
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.maintainer.close();
    await this.#deps.tasks.stop(deadline);
    this.staticAddress.close();
  }

  #onRelease(release: FinishedRelease): void {
    const { context, state } = this.#deps;
    const { subnetId, count, failure } = release;
    context.emit({ kind: 'release', node: state.node, release });
    if (failure === undefined) this.#returned(subnetId, count);
  }

  #onInterfaceRelease(release: InterfaceRelease): void {
    const { context, state } = this.#deps;
    context.emit({ kind: 'interfaceRelease', node: state.node, release });
    if (release.failure === undefined) this.#returned(release.subnetId, 1);
  }

  /** So many addresses returned to the subnet. */
  #returned(subnetId: string, count: number): void {
    const { cloud, runtime, emit } = this.#deps.context;
    cloud.supply.ledger.released(subnetId, count, runtime.clock.monotonic());
    emit({ kind: 'spaceFreed' });
  }
}
