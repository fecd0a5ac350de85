// An inventory whose gate is open or closed as a test says, and instances of two interfaces each.
import { Inventory } from '../../../src/providers/inventory/inventory.ts';
import type { Observation } from '../../../src/providers/contract/facts.ts';
import { attachment, networkInterface } from './interfaces.ts';
import { window } from './inventory-rig.ts';

export class Gate {
  isOpen = false;
  ofNodes: ReadonlySet<string> | undefined;
  readonly asked: string[][] = [];
  suspected: string[] = [];
  readonly inventory = new Inventory({
    consistencyWindow: window,
    gate: {
      admit: (instanceIds, _, suspected) => {
        this.asked.push([...instanceIds].sort());
        this.suspected = [...suspected()].sort();
        return this.isOpen;
      },
      ofNodes: () => this.ofNodes,
    },
  });

  readonly ids: readonly string[];

  constructor(ids: readonly string[]) {
    this.ids = ids;
    for (const id of ids) this.inventory.track(id);
  }

  /** Applies a refresh that shows each of these with its primary interface, and with the second one if `isWhole`. */
  refresh(
    startedAt: number,
    ids: readonly string[],
    isWhole: (id: string) => boolean,
    endedAt = startedAt,
  ): ReadonlySet<string> {
    const observations = ids.flatMap((id) => this.shown(id, isWhole(id)));
    return this.inventory.applyRefresh({ startedAt, endedAt, instanceIds: ids, observations });
  }

  /** Applies a page of a listing that shows each of these whole. */
  list(startedAt: number, ids: readonly string[]): void {
    this.inventory.beginListing(startedAt).apply(
      ids.flatMap((id) => this.shown(id, true)),
      startedAt,
    );
  }

  /** Its primary interface, and the second one if `isWhole`. */
  shown(id: string, isWhole: boolean): readonly Observation[] {
    return [0, ...(isWhole ? [1] : [])].map((deviceIndex) => ({
      kind: 'interface',
      interface: networkInterface({
        id: `eni-${id}-${deviceIndex}`,
        primaryAddress: `10.0.${deviceIndex}.${id}`,
        addresses: [`10.1.${deviceIndex}.${id}`],
        attachment: attachment({ instanceId: id, deviceIndex }),
      }),
    }));
  }

  /** Applies a refresh that shows these interfaces of an instance, changed like this. */
  refreshWith(at: number, id: string, shown: readonly string[], change = (each: Observation) => each): void {
    const observations = this.shown(id, true)
      .filter((each) => each.kind === 'interface' && shown.includes(each.interface.id))
      .map(change);
    this.inventory.applyRefresh({ startedAt: at, endedAt: at, instanceIds: [id], observations });
  }

  addresses(id: string): readonly string[] {
    return this.inventory.view(id)?.interfaces.flatMap(({ addresses }) => addresses) ?? [];
  }

  get counts(): readonly (number | undefined)[] {
    return this.ids.map((id) => this.inventory.view(id)?.interfaces.length);
  }
}

export const withoutAddresses = (each: Observation): Observation =>
  each.kind === 'interface' ? { ...each, interface: { ...each.interface, addresses: [] } } : each;
export const all = ['1', '2', '3'];
export const whole = (): boolean => true;
export const bare = (): boolean => false;

/** Each misses its second interface at 40. */
export function missing(): Gate {
  const gate = new Gate(all);
  gate.refresh(0, all, whole);
  gate.refresh(40, all, bare);
  return gate;
}
