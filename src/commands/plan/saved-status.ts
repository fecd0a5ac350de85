// A snapshot: the answer of /status in a file, to plan with later or elsewhere. Newer formats are refused, and so is whatever is
// no snapshot.
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import * as z from 'zod';
import { failureInWords } from '../../config/failure-in-words.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { reportIn, type Served } from '../status/served-report.ts';

/** Marks a file as a snapshot. */
const kind = 'headwater-snapshot';
/** Raised when an older headwater would misread a snapshot. */
const format = 1;

/** In bytes: as much as an answer may have. */
const maxLength = 64 * 1024 * 1024;

export interface SavedStatus extends Pick<Served, 'json' | 'report'> {
  /** In wall-clock ms. */
  readonly takenAt: number;
}

/** The text of a snapshot. `json`: the answer of /status. */
export function snapshotText(json: string, takenAt: number): string {
  const head = { kind, format, takenAt: new Date(takenAt).toISOString() };
  return `${JSON.stringify(head).slice(0, -1)},"status":${json.trim()}}\n`;
}

/** Leaves a whole file or none, and what was there before if it fails. Resolves to why it failed. */
export async function saveSnapshot(path: string, text: string): Promise<string | undefined> {
  const written = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(written, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(written, path);
    return undefined;
  } catch (error) {
    await rm(written, { force: true });
    return `cannot write ${sanitizedText(path)}: ${(error as Error).message}`;
  }
}

/** Resolves to what is wrong with the file if it is no snapshot that can be read. */
export async function loadSnapshot(path: string): Promise<SavedStatus | string> {
  const place = sanitizedText(path);
  try {
    if ((await stat(path)).size > maxLength) return `${place} is no snapshot: it has more than 64 MiB`;
    const read = snapshotIn(await readFile(path, 'utf8'));
    return typeof read === 'string' ? `${place} ${read}` : read;
  } catch (error) {
    return `cannot read ${place}: ${failureInWords(error)}`;
  }
}

const head = z.object({ kind: z.literal(kind), format: z.int().min(1) });
const body = z.object({ takenAt: z.iso.datetime(), status: z.object({}).loose() });

/** Resolves to what is wrong with the text, worded to follow its name. */
export function snapshotIn(text: string): SavedStatus | string {
  const parsed = parsedJson(text);
  if (typeof parsed === 'string') return parsed;
  const marked = head.safeParse(parsed.value).data;
  if (marked === undefined) return `is no snapshot${otherForm(text)}: take one by headwater snapshot`;
  if (marked.format > format)
    return `is a snapshot of format ${marked.format}, and this headwater reads format ${format}: update it`;
  const { takenAt, status } = body.safeParse(parsed.value).data ?? {};
  const json = JSON.stringify(status);
  const report = status && reportIn(json);
  if (takenAt === undefined || report === undefined)
    return 'is a snapshot that was changed or damaged: take another one by headwater snapshot';
  return { json, report, takenAt: Date.parse(takenAt) };
}

function parsedJson(text: string): { readonly value: unknown } | string {
  if (text.trim() === '') return 'is empty: take a snapshot by headwater snapshot';
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const isCut = /end of JSON|unterminated/i.test((error as Error).message) && text.startsWith('{"kind":');
    return isCut
      ? 'is cut off before its end: take another snapshot by headwater snapshot'
      : 'is no snapshot, and no JSON: take one by headwater snapshot';
  }
}

function otherForm(text: string): string {
  return reportIn(text) === undefined ? '' : ', but an answer of /status';
}
