// The watch of CiliumPodIPPools. What a list changes is told at once: a part of it proves nothing.
import {
  ciliumPodIpPoolsPath,
  type CiliumPodIpPool,
  readCiliumPodIpPool,
} from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import type { Change } from '../../kubernetes/watch/object-store.ts';
import { BlockWatch } from './block-watch.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** `undefined` for a pool that is gone. */
export type PoolChange = readonly [name: string, pool: CiliumPodIpPool | undefined];

export class PoolsWatch extends BlockWatch<CiliumPodIpPool> {
  readonly #onChange: (changes: readonly PoolChange[]) => void;
  /** Whether the leader has done what comes before anything else. */
  #isOpen = false;
  #changes: PoolChange[] = [];

  constructor(deps: ModeDeps, onChange: (changes: readonly PoolChange[]) => void) {
    const objects = { path: ciliumPodIpPoolsPath, transform: readCiliumPodIpPool };
    super(deps, 'pools', { resource: 'CiliumPodIPPools', ...objects });
    this.#onChange = onChange;
  }

  override get isSettled(): boolean {
    return this.isListed && this.#isOpen;
  }

  /** From now on, what is listed is all that is waited for. */
  open(): void {
    this.#isOpen = true;
  }

  /** Until it is open again, nothing is given out. */
  close(): void {
    this.#isOpen = false;
  }

  protected override applyChange({ type, key, object }: Change<CiliumPodIpPool>): void {
    this.#changes.push([key, type === 'deleted' ? undefined : object]);
    if (this.isListed) this.endList();
  }

  protected override endList(): void {
    const changes = this.#changes;
    this.#changes = [];
    this.#onChange(changes);
  }
}
