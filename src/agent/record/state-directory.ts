// The directory that holds what the agent remembers: a directory for each boot of the machine. No container survives a boot,
// so what an earlier one left holds nothing.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenedRecord, AddressRecord } from './record.ts';

export interface StateDirectory {
  readonly path: string;
  readonly bootIdFile: string;
}

export type OpenedState = OpenedRecord | { readonly kind: 'unusable'; readonly problem: string };

/** As Linux writes it into /proc/sys/kernel/random/boot_id. */
const bootId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Opens the record of this boot, and then removes those of others. */
export function openState({ path, bootIdFile }: StateDirectory): OpenedState {
  try {
    const boot = readFileSync(bootIdFile, 'utf8').trim();
    if (!bootId.test(boot)) return { kind: 'unusable', problem: `${bootIdFile} holds no boot id` };
    const own = join(path, boot);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const opened = AddressRecord.open(own);
    if (opened.kind === 'open') removeOthers(path, boot);
    return opened;
  } catch (error) {
    return { kind: 'unusable', problem: (error as Error).message };
  }
}

function removeOthers(path: string, boot: string): void {
  const others = readdirSync(path).filter((name) => bootId.test(name) && name !== boot);
  for (const name of others) rmSync(join(path, name), { recursive: true });
}
