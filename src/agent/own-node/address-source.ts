// The port of where the addresses of this node come from, and who is told what becomes of them.
import type { IpamEvent } from '../ipam/ipam.ts';

export interface AddressSource {
  /** What the agent waits for until it has addresses, worded to follow "waiting for". */
  readonly missing: string;
  /** Resolves once it is known what this node has. */
  readonly synced: Promise<void>;
  /** Runs until `signal` aborts. Rejects with a bug, after everything has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Called with what becomes of addresses. */
  notice(event: IpamEvent): void;
  /** Called when what is held is known at last. */
  update(): void;
}
