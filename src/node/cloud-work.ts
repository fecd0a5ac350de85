// What is done in the cloud for one node, put together: what fills its pool, what takes back, and housekeeping. Each knows
// of the others no more than which interfaces they are at.
import type { Answer } from '../providers/observation.ts';
import type { AllocationImplementation } from '../providers/allocation-implementation.ts';
import type { Urgency } from '../providers/urgency.ts';
import type { Random } from '../scheduling/random.ts';
import { AddressReleaser } from './address-releaser.ts';
import { DeleteOnTermination } from './delete-on-termination.ts';
import { type GivenBack, IdleInterfaces } from './idle-interfaces.ts';
import type { KnownNode } from './known-node.ts';
import type { NodeContext } from './node-context.ts';
import { PoolMaintainer } from './pool-maintainer.ts';
import { StaticAddress } from './static-address.ts';
import type { FinishedRelease } from './unassignments.ts';

export interface CloudWorkDeps {
  readonly name: string;
  readonly instanceId: string;
  readonly context: NodeContext;
  readonly random: Random;
  readonly known: KnownNode;
  /** When the CiliumNode was last written, in monotonic ms; -Infinity if it was not. */
  readonly writtenAt: () => number;
  /** How badly the node needs addresses now. */
  readonly urgency: () => Urgency;
  /** Something ended, or a wait did: to be called back through `evaluate` of each. */
  readonly wake: () => void;
}

export class CloudWork {
  readonly releaser: AddressReleaser;
  readonly idle: IdleInterfaces;
  readonly maintainer: PoolMaintainer;
  readonly deleteOnTermination: DeleteOnTermination;
  readonly staticAddress: StaticAddress;
  readonly #deps: CloudWorkDeps;
  #calls = 0;

  constructor(deps: CloudWorkDeps) {
    this.#deps = deps;
    const { name, instanceId, context, random, known, urgency, wake, writtenAt } = deps;
    const { hooks, clock, permission, timing, onBug } = context;
    const look = (): Promise<void> => context.look(instanceId);
    // Each has a copy, on each node: no more in it than most of them need.
    const shared = {
      implementation: this.#counting(context.implementation),
      instanceId,
      random,
      clock,
      permission,
      timing,
      wake,
      onBug,
      fold: (answer: Answer) => known.fold(answer),
      doubt: (from: number) => context.inventory.doubt(instanceId, from),
    };
    this.releaser = new AddressReleaser({
      ...shared,
      policy: context.releasePolicy,
      writtenAt,
      facts: () => known.forRelease(),
      isGrowing: (interfaceId) => this.maintainer.isGrowing(interfaceId),
      readNode: (signal) => known.readAnew(signal),
      onRelease: (release) => this.#onRelease(release),
    });
    this.idle = new IdleInterfaces({
      ...shared,
      delay: context.releasePolicy.idleDelay,
      facts: () => known.forIdleInterfaces(),
      isBusy: (interfaceId) =>
        this.maintainer.isGrowing(interfaceId) || this.releaser.interfaces.has(interfaceId),
      look,
      readNode: (signal) => known.readAnew(signal),
      onGivenBack: (given) => this.#onGivenBack(given),
    });
    this.maintainer = new PoolMaintainer({
      ...shared,
      isShrinking: (interfaceId) =>
        this.releaser.isShrinking(interfaceId) || this.idle.leaving.has(interfaceId),
      facts: () => known.forAllocation(),
      urgency,
      look,
      ledger: context.ledger,
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
      look,
      facts: () => known.forStaticAddress(),
      onAssociated: (address, interfaceId) => hooks.onStaticIp(name, address, interfaceId),
    });
  }

  /** Whether anything is on its way out of the node. */
  get takesBack(): boolean {
    return this.releaser.outgoing.size > 0 || this.idle.leaving.size > 0;
  }

  /** How many operations were begun for the node. */
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

  /** Begins nothing more; resolves once what was begun has ended, which `deadline` cuts short. */
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

  #onGivenBack(given: GivenBack): void {
    const { ledger, clock, hooks } = this.#deps.context;
    hooks.onGivenBack(this.#deps.name, given);
    if (given.failure !== undefined) return;
    ledger.released(given.subnetId, 1, clock.monotonic());
    hooks.onSpace();
  }
}
