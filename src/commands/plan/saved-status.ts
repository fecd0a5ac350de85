// A snapshot: the answer of /status in a file, to plan with later or elsewhere. Newer formats are refused, and so is whatever is
// no snapshot.
import { open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { failureInWords } from '../../config/config-directory.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { reportIn, type Served } from '../status/served-report.ts';

/** Marks a file as a snapshot. */
const kind = 'headwater-snapshot';
const begun = /^\s*[{]\s*"kind":\s*"headwater-snapshot"/;
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

/**
 * Leaves a whole file or none, and what was there before if it fails. A pipe or a device, such as /dev/stdout, is written to
 * and stays; so does a link, whose file is replaced. Resolves to why it failed.
 */
export async function saveSnapshot(path: string, text: string): Promise<string | undefined> {
  try {
    const file = await fileAt(path);
    if (file === undefined) await writeFile(path, text);
    else await replaceFile(file, text);
    return undefined;
  } catch (error) {
    return `cannot write ${sanitizedText(path)}: ${(error as Error).message}`;
  }
}

/** Resolves to the path of the file, or of the one to make; undefined if something else is there. */
async function fileAt(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isFile() ? await realpath(path) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path;
    throw error;
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
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
  } catch (error) {
    await rm(written, { force: true });
    throw error;
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
  } catch {
    return begun.test(text)
      ? 'is a snapshot that is cut off or damaged: take another one by headwater snapshot'
      : 'is no snapshot, and no JSON: take one by headwater snapshot';
  }
}

function otherForm(text: string): string {
  return reportIn(text) === undefined ? '' : ', but an answer of /status';
}
