// The port of where the addresses of this node come from, and who is told what becomes of them.
import { LinkedAbort } from '../../kubernetes/transport/linked-abort.ts';
import type { IpamEvent } from '../ipam/ipam.ts';

export interface AddressSource {
  /** The thing that the agent waits for until it has addresses, worded to follow "waiting for". */
  readonly missing: string;
  /** Resolves once it is known what this node has. */
  readonly synced: Promise<void>;
  /** Runs until `signal` aborts. Rejects with a bug, after everything has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Called with what becomes of addresses. */
  notice(event: IpamEvent): void;
  /** Called when what is held is known at last. */
  update(): void;
  /** Called when what is known of pools has changed. */
  refresh(): void;
}

/** Runs all until `signal` aborts. If one rejects, the others end first. */
export async function runTogether(
  runs: readonly ((signal: AbortSignal) => Promise<unknown>)[],
  signal: AbortSignal,
): Promise<void> {
  const own = new LinkedAbort(signal);
  const outcomes = await Promise.allSettled(
    runs.map((run) =>
      run(own.signal).catch((error: unknown) => {
        own.abort();
        throw error;
      }),
    ),
  );
  own.release();
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
