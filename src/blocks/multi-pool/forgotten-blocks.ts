// The pods that a new leader looks at before it gives out any block: an agent may have dropped a block that running pods keep,
// or somebody deleted its CiliumNode, before this process led. No CiliumNode lists such a block; only the pods show it. All
// pods are read once, page by page: from then on each drop is seen, and the pods of one node are enough.
import type { ShownPodOfNode, ShownPods, UnreadablePods } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { LeftHoldings } from '../allocation/left-holdings.ts';
import { addressCidr, type Cidr } from '../set/cidr.ts';
import type { PoolNodeHolder } from './pool-node-holder.ts';
import type { PoolPolicy } from './pool-policy.ts';

export interface ForgottenBlocksDeps {
  readonly pods: Pick<ShownPods, 'everywhere'>;
  readonly policy: Pick<PoolPolicy, 'forgottenBlock' | 'isOutside' | 'remember'>;
  /** Blocks of CiliumNodes that are gone. */
  readonly left: Pick<LeftHoldings, 'remember'>;
  /** The CiliumNodes as last read, by name. */
  readonly objects: ReadonlyMap<string, Pick<PoolNodeHolder, 'uid'>>;
  /** Called before the first repetition, and if pods may not be read: then nothing is kept. */
  readonly onUnreadable: (reading: UnreadablePods) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** Between two attempts, in ms. Meanwhile nobody gets a block. */
const retries = { base: 500, cap: 10_000 };

/** An address that a pod of a node showed, of no pool by then. */
interface OutsideUse {
  readonly node: string;
  readonly address: Cidr;
}

export class ForgottenBlocks {
  readonly #deps: ForgottenBlocksDeps;
  #outside: readonly OutsideUse[] = [];

  constructor(deps: ForgottenBlocksDeps) {
    this.#deps = deps;
  }

  /** Resolves once what pods use is the block of their node again. Rejects only with the signal's reason. */
  async remember(signal: AbortSignal): Promise<void> {
    const { pods, onUnreadable, clock, random } = this.#deps;
    const backoff = new Backoff(retries, { clock, random });
    for (;;) {
      const reading = await pods.everywhere((each) => this.#isWanted(each), signal);
      if (reading.kind === 'read') {
        this.#outside = reading.shown.flatMap(({ node, address }) => {
          const place = addressCidr(address);
          return place === undefined ? [] : [{ node, address: place }];
        });
        this.notePools();
        return;
      }
      if (reading.isDenied || backoff.failures === 0) onUnreadable(reading);
      if (reading.isDenied) return;
      await sleep(clock, backoff.fail(), signal);
    }
  }

  /** A pool may have what pods showed. Call it before anything of the pool is given out. */
  notePools(): void {
    this.#outside = this.#outside.filter((use) => !this.#isRemembered(use));
  }

  #isWanted({ node, address }: ShownPodOfNode): boolean {
    const { policy, objects } = this.#deps;
    const [uid, place] = [objects.get(node)?.uid, addressCidr(address)];
    if (place === undefined) return false;
    if (policy.forgottenBlock(uid, place) !== undefined) return true;
    return uid !== undefined && policy.isOutside(uid, place);
  }

  /** Whether it has a block by now, its own or another's. */
  #isRemembered({ node, address }: OutsideUse): boolean {
    const { policy, left, objects } = this.#deps;
    const uid = objects.get(node)?.uid;
    const block = policy.forgottenBlock(uid, address);
    if (block === undefined) return uid === undefined || !policy.isOutside(uid, address);
    if (uid === undefined) left.remember(node, block.cidr);
    else policy.remember(uid, block);
    return true;
  }
}
