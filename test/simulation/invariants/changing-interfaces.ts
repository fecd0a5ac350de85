// What no controller may say of an interface while an operation on it is under way: that something of it is gone. The
// operation may still fail, and then the interface has everything again.
import type { NetworkInterface } from '../../../src/simulator/cloud/records.ts';
import type { CloudRig } from '../clouds/cloud-rig.ts';
import { addedBy } from './interface-change.ts';
import type { ReleaseConsents } from './release-consents.ts';
import type { ShownNode } from './shown-node.ts';

export interface NodeWrite {
  readonly node: string;
  readonly before: ShownNode;
  readonly after: ShownNode;
  /** What the agent could assign before. */
  readonly offered: ReadonlySet<string>;
  /** The controller. */
  readonly writer: string;
}

export interface ChangingInterfacesOptions {
  readonly rig: CloudRig;
  readonly consents: ReleaseConsents;
  readonly isExempt: (address: string) => boolean;
}

export class ChangingInterfaces {
  readonly #options: ChangingInterfacesOptions;
  /** By interface: what the operation under way removes. */
  readonly #leaving = new Map<string, Set<string>>();

  constructor(options: ChangingInterfacesOptions) {
    this.#options = options;
  }

  /** An interface changed. */
  onInterface(before: NetworkInterface | undefined, after: NetworkInterface | undefined): void {
    const { id = '' } = after ?? before ?? {};
    if (!this.#options.rig.isChanging(id)) {
      this.#leaving.delete(id);
      return;
    }
    const leaving = this.#leaving.get(id) ?? new Set();
    for (const address of addedBy(after, before)) leaving.add(address);
    this.#leaving.set(id, leaving);
  }

  /** What is wrong with a write of a controller. */
  *misdeedsIn(write: NodeWrite): Generator<string> {
    yield* this.#struckBy(write);
    yield* this.#releasedTooEarlyBy(write);
  }

  /** Nothing that its instance has may be struck, unless its node released it before it heard. */
  *#struckBy({ node, after, offered, writer }: NodeWrite): Generator<string> {
    const { rig, consents, isExempt } = this.#options;
    const { instanceId, pool, interfaces } = after;
    const shown = Object.values(interfaces).flatMap(({ addresses = [] }) => addresses);
    const kept = new Set([...shown, ...Object.keys(pool)]);
    const isStruck = (each: string): boolean => offered.has(each) && !kept.has(each) && !isExempt(each);
    for (const item of rig.cluster.network.interfaces.values()) {
      if (item.instanceId !== instanceId || !rig.isChanging(item.id)) continue;
      const isByOthers = rig.acting(item.id)?.identity !== writer;
      for (const address of item.addresses.filter(isStruck))
        if (!isByOthers || !consents.has(instanceId, address))
          yield `${node} strikes ${address} of ${item.id}, which is changing`;
    }
  }

  /** An agent is told of a release only once nothing removes the address any more. */
  *#releasedTooEarlyBy({ node, before, after }: NodeWrite): Generator<string> {
    const leaving = new Set([...this.#leaving.values()].flatMap((addresses) => [...addresses]));
    for (const [address, state] of Object.entries(after.handshakes)) {
      const isNew = state === 'released' && before.handshakes[address] !== 'released';
      if (isNew && leaving.has(address))
        yield `${node} says that ${address} is released, which is still being removed`;
    }
  }
}
