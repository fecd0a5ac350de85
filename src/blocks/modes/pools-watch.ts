// The watch of CiliumPodIPPools. What a list changes is told at once: a part of it proves nothing.
import {
  ciliumPodIpPoolsPath,
  type CiliumPodIpPool,
  readCiliumPodIpPool,
} from '../../kubernetes/ciliumpodippool/cilium-pod-ip-pool.ts';
import { Reflector } from '../../kubernetes/watch/reflector.ts';
import { logReflectorState } from '../../controller/reporting/watch-counters.ts';
import type { PartWatch } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** `undefined` for a pool that is gone. */
export type PoolChange = readonly [name: string, pool: CiliumPodIpPool | undefined];

export class PoolsWatch implements PartWatch {
  readonly resource = 'CiliumPodIPPools';
  readonly reflector: Reflector<CiliumPodIpPool>;
  problem: string | undefined;
  #isListed = false;
  /** Whether the leader has done what comes before anything else. */
  #isOpen = false;
  #changes: PoolChange[] = [];

  constructor(
    { host: { clock, random, log, onBug }, kubernetes }: ModeDeps,
    onChange: (changes: readonly PoolChange[]) => void,
  ) {
    const tell = (): void => {
      const changes = this.#changes;
      this.#changes = [];
      onChange(changes);
    };
    this.reflector = new Reflector<CiliumPodIpPool>({
      transport: kubernetes,
      clock,
      random: random.fork('pools'),
      path: ciliumPodIpPoolsPath,
      verifyEmptyLists: true,
      transform: readCiliumPodIpPool,
      onChange: ({ type, key, object }) => {
        this.#changes.push([key, type === 'deleted' ? undefined : object]);
        if (this.#isListed) tell();
      },
      onList: (phase) => {
        this.#isListed = phase === 'end';
        if (this.#isListed) tell();
      },
      onState: (state) => {
        if ('problem' in state) this.problem = state.problem;
        if (state.kind === 'watching') this.problem = undefined;
        logReflectorState(log, 'ciliumpodippools', state);
      },
      onBug,
    });
  }

  get isSettled(): boolean {
    return this.#isListed && this.#isOpen;
  }

  /** From now on, what is listed is all that is waited for. */
  open(): void {
    this.#isOpen = true;
  }

  /** Runs until `signal` aborts, then resolves. Call it once, when there are such objects. */
  run(signal: AbortSignal): Promise<void> {
    return this.reflector.run(signal);
  }
}
