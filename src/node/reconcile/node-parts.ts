// Composes the cloud operations of one node: allocation, release and housekeeping. Each knows of the others
// only which interfaces they are working on.
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { TaskGroup } from '../../runtime/task-group.ts';
import type { Random } from '../../runtime/random.ts';
import { Releaser } from '../release/releaser.ts';
import { DeleteOnTermination } from '../housekeeping/delete-on-termination.ts';
import { IdleInterfaces } from '../release/idle-interfaces.ts';
import type { NodeState } from './node-state.ts';
import type { NodeContext } from './node-context.ts';
import type { PartEvent } from './node-event.ts';
import { PoolMaintainer } from '../allocate/pool-maintainer.ts';
import { StaticAddress } from '../housekeeping/static-address.ts';
import { onlyIfVerified } from '../release/release-permission.ts';

export interface NodePartsDeps {
  readonly context: NodeContext;
  readonly permission: Pick<MutationPermission, 'refusal'>;
  readonly random: Random;
  readonly state: NodeState;
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
    const { context, permission, random, state, tasks } = deps;
    const { cloud, settings, identities } = context;
    const { clock } = context.runtime;
    const { timing } = settings;
    const { name } = state.node;
    const ownPermission = onlyIfVerified(permission, () => identities.isVerified(name, state.instanceId));
    const emit = (event: PartEvent): void => this.#happened(event);
    // Each node holds a copy, so it contains only what most parts need.
    const shared = { node: state, clock, random, permission, tasks, emit };
    const releasing = { ...shared, permission: ownPermission };
    this.releaser = new Releaser({ ...releasing, timing, policy: settings.release });
    this.idle = new IdleInterfaces({ ...releasing, delay: settings.release.idleDelay });
    this.maintainer = new PoolMaintainer({
      node: state,
      supply: cloud.supply,
      inventory: cloud.inventory,
      settings,
      runtime: { clock, random, tasks },
      permission,
      emit,
    });
    this.deleteOnTermination = new DeleteOnTermination({ ...shared, timing });
    this.staticAddress = new StaticAddress({ ...shared, publicAddresses: cloud.supply.publicAddresses });
  }

  /** Starts nothing more; resolves once work in flight has ended, at `deadline` at the latest. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.maintainer.close();
    await this.#deps.tasks.stop(deadline);
    this.staticAddress.close();
  }

  #happened(event: PartEvent): void {
    const { context, state } = this.#deps;
    const { cloud, runtime, emit } = context;
    emit({ ...event, node: state.node });
    if (event.kind !== 'release' && event.kind !== 'interfaceRelease') return;
    const { subnetId, failure } = event.release;
    if (failure !== undefined) return;
    const count = event.kind === 'release' ? event.release.count : 1;
    cloud.supply.ledger.released(subnetId, count, runtime.clock.monotonic());
    emit({ kind: 'spaceFreed' });
  }
}
