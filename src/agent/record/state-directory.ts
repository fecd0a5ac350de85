// The directory that holds what the agent remembers: a directory for each boot of the machine. No container survives a boot,
// so what an earlier one left holds nothing. A record that is damaged is set aside, if its holdings can be learned again; what it
// still says of containers that live is kept: to whom addresses belong that no pod shows yet, and which gateways pods have.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Attachment, type Change, Holdings } from '../ipam/holdings.ts';
import { AddressRecord, type OpenedRecord } from './address-record.ts';
import { parseChange } from './change-text.ts';
import { parseLine, type RecordOwner } from './stored-record.ts';

export interface StateDirectory {
  readonly path: string;
  readonly bootIdFile: string;
  /** The node whose pods hold what is in it. */
  readonly node: string;
  /** Whether holdings can be learned from the pods of this node. Default: they cannot. */
  readonly canRebuild?: boolean;
  /** Whether the network namespace of a container lives, as far as it can be seen. Default: none is seen. */
  readonly lives?: (netns: string) => boolean;
}

export type OpenedState =
  | Exclude<OpenedRecord, { readonly kind: 'foreign' }>
  | { readonly kind: 'unusable'; readonly problem: string };

/** The boot id, as Linux writes it into /proc/sys/kernel/random/boot_id. */
const bootId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const asideSuffix = '.damaged';

/** Opens the record of this boot, and then removes those of others. */
export function openState(options: StateDirectory): OpenedState {
  const { path, bootIdFile, node } = options;
  try {
    const boot = readFileSync(bootIdFile, 'utf8').trim();
    if (!bootId.test(boot)) return { kind: 'unusable', problem: `${bootIdFile} holds no boot id` };
    const opened = openOwn(join(path, boot), { boot, node }, { ...unseeing, ...options });
    if (opened.kind === 'foreign') return { ...opened, kind: 'unusable' };
    if (opened.kind === 'open') removeOthers(path, boot);
    return opened;
  } catch (error) {
    return { kind: 'unusable', problem: (error as Error).message };
  }
}

const unseeing = { canRebuild: false, lives: () => false };

/** An agent that was killed between two of these steps finds the directory that is set aside, and an empty record. */
function openOwn(
  own: string,
  owner: RecordOwner,
  { canRebuild, lives }: Required<StateDirectory>,
): OpenedState | OpenedRecord {
  const aside = `${own}${asideSuffix}`;
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const opened = AddressRecord.open(own, owner);
  if (opened.kind === 'foreign') return opened;
  if (opened.kind === 'open' && !(opened.record.isNew && existsSync(aside))) return opened;
  if (!canRebuild)
    return opened.kind === 'open' ? { kind: 'damaged', problem: `${aside} is damaged` } : opened;
  if (opened.kind === 'damaged') {
    rmSync(aside, { recursive: true, force: true });
    renameSync(own, aside);
    mkdirSync(own, { mode: 0o700 });
  }
  return startAgain(opened.kind === 'open' ? opened : AddressRecord.open(own, owner), salvage(aside, lives));
}

function startAgain(opened: OpenedRecord, kept: readonly Change[]): OpenedState | OpenedRecord {
  if (opened.kind !== 'open') return opened;
  for (const change of [{ rebuilding: true }, ...kept]) {
    const problem = opened.record.write(change);
    if (problem !== undefined) return { kind: 'unusable', problem };
    opened.holdings.apply(change);
  }
  return opened;
}

function removeOthers(path: string, boot: string): void {
  const others = readdirSync(path).filter((name) => {
    const bare = name.endsWith(asideSuffix) ? name.slice(0, -asideSuffix.length) : name;
    return bootId.test(bare) && bare !== boot;
  });
  for (const name of others) rmSync(join(path, name), { recursive: true });
}

/**
 * Changes that lead to what lines with right check sums say. A line that is lost may have released something, so only what
 * containers hold that live counts. `lives`: whether a network namespace does.
 */
function salvage(directory: string, lives: (netns: string) => boolean): readonly Change[] {
  const found = new Holdings();
  for (const line of ['snapshot', 'journal'].flatMap((name) => linesOf(join(directory, name)))) {
    const change = parseChange(parseLine(line)?.text ?? line);
    if (change !== undefined) found.apply(change);
  }
  const attached = [...found.attachments()].filter(({ netns }) => netns !== undefined && lives(netns));
  return [{ routers: found.routers }, ...attached.flatMap((each) => changeOf(each, found))];
}

/** Without addresses that a later attachment has. */
function changeOf(attachment: Attachment, found: Holdings): readonly Change[] {
  const places = attachment.places.filter((place) => found.attachmentOf(place) === attachment);
  const hold = places.map(({ pool, ip }) => ({ pool, ip, owner: attachment.owner }));
  return places.length === 0 ? [] : [{ hold, attach: { ...attachment, places } }];
}

/** None of a file that cannot be read. */
function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
