// What a new leader looks at before it gives out any block: an agent may have dropped a block that running pods keep, before
// this process led. No CiliumNode lists such a block; only the pods show it. All pods are read once, page by page: from then on
// each drop is seen, and the pods of one node are enough.
import type { AllPodReads, PodReading, ShownPodOfNode } from '../../kubernetes/watch/shown-pods.ts';
import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { addressCidr } from '../set/cidr.ts';
import type { PoolAllotment } from './pool-allotment.ts';
import type { ListedBlock } from './pool-book.ts';

export interface ForgottenBlocksDeps {
  readonly pods: AllPodReads;
  readonly allotment: Pick<PoolAllotment, 'forgottenBlock' | 'remember'>;
  /** The uid of the CiliumNode of that name; undefined if there is none. */
  readonly uidOf: (name: string) => string | undefined;
  /** Called before the first repetition, and if pods may not be read: then nothing is kept. */
  readonly onUnreadable: (reading: PodReading & { readonly kind: 'unreadable' }) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** Between two attempts, in ms. Meanwhile nobody gets a block. */
const retries = { base: 500, cap: 10_000 };

/** Resolves once what pods use is the block of their node again. Rejects only with the signal's reason. */
export async function rememberForgottenBlocks(deps: ForgottenBlocksDeps, signal: AbortSignal): Promise<void> {
  const { pods, onUnreadable, clock, random } = deps;
  const backoff = new Backoff(retries, { clock, random });
  for (;;) {
    const reading = await pods.everywhere((each) => forgottenBlock(deps, each) !== undefined, signal);
    if (reading.kind === 'read') return rememberAll(deps, reading.shown);
    if (reading.isDenied || backoff.failures === 0) onUnreadable(reading);
    if (reading.isDenied) return;
    await sleep(clock, backoff.fail(), signal);
  }
}

function rememberAll(deps: ForgottenBlocksDeps, shown: readonly ShownPodOfNode[]): void {
  for (const each of shown) {
    const found = forgottenBlock(deps, each);
    if (found !== undefined) deps.allotment.remember(found.uid, found.block);
  }
}

function forgottenBlock(
  { allotment, uidOf }: Pick<ForgottenBlocksDeps, 'allotment' | 'uidOf'>,
  { node, address }: ShownPodOfNode,
): { readonly uid: string; readonly block: ListedBlock } | undefined {
  const uid = uidOf(node);
  const place = addressCidr(address);
  const block = uid === undefined || place === undefined ? undefined : allotment.forgottenBlock(uid, place);
  return uid === undefined || block === undefined ? undefined : { uid, block };
}
