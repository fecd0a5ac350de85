// Reads what a damaged record still says, in lines whose check sums are right: to whom addresses belong that no pod shows yet, and
// which gateways pods have. A line that is lost may have released something, so only what containers hold that live counts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Attachment, type Change, Holdings } from '../ipam/holdings.ts';
import { parseChange } from './change-text.ts';
import { parseLine } from './record-line.ts';

/** Changes that lead to it. `lives`: whether a network namespace does. */
export function salvage(directory: string, lives: (netns: string) => boolean): readonly Change[] {
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
