// Reads /status and /readyz of a controller over any connection, and makes what it says safe to show. A report of another
// version may have more members, and lack any that is optional here.
import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import * as z from 'zod';
import { boundedText } from '../../network/bounded-body.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';

const text = z.string().transform((given) => sanitizedText(given));
const counts = z
  .record(z.string(), z.number())
  .transform((given) =>
    Object.entries(given).map(([name, count]) => [sanitizedText(name, 100), count] as const),
  );

const subnet = z.object({
  id: text,
  zone: text,
  cidr: text,
  counted: z.boolean(),
  size: z.number(),
  free: z.number(),
  reserved: z.number(),
  exhausted: z.boolean(),
  fragmented: z.boolean(),
});
const pool = z.object({
  pool: text,
  cidr: text,
  maskSize: z.number(),
  capacity: z.number(),
  held: z.number(),
  free: z.number(),
  waiting: z.number(),
  daysLeft: z.number().optional(),
});
const bucket = z.object({
  action: text,
  tokens: z.number(),
  capacity: z.number(),
  refillPerSecond: z.number(),
  learnedRatio: z.number(),
  throttled: z.number(),
  waiting: z.record(z.string(), z.number()),
});
const pause = z.object({
  reason: text,
  activities: z.array(text),
  node: text.optional(),
  manager: text.optional(),
  quietInSeconds: z.number().optional(),
});
const held = z.object({ why: text, nodes: z.number(), token: text.optional() });
/** Nodes are named `name` or `node`. */
const node = z.object({
  name: text.optional(),
  node: text.optional(),
  reason: text.optional(),
  why: text.optional(),
});

const reportSchema = z.object({
  version: text.optional(),
  state: text,
  identity: text,
  leader: text.optional(),
  paused: z.array(pause),
  reasons: counts.optional(),
  nodes: counts.optional(),
  addresses: counts.optional(),
  pendingPods: z.number().optional(),
  subnets: z.array(subnet).optional(),
  pools: z.array(pool).optional(),
  buckets: z.array(bucket).optional(),
  denied: z.array(z.object({ permission: text, remedy: text })).optional(),
  inDeficit: z.array(node).optional(),
  waiting: z.array(node).optional(),
  warnings: z.array(node).optional(),
  withdrawalsHeld: held.optional(),
  /** Entries that each list lacks because of its length. */
  omitted: counts.optional(),
  unverified: z.object({ problem: text.optional(), count: z.number() }).optional(),
});

export type ShownReport = z.output<typeof reportSchema>;

export interface Served {
  /** The answer of /status as it is. */
  readonly json: string;
  readonly report: ShownReport;
  /** Why the controller is not ready; undefined if it is. */
  readonly unready: string | undefined;
}

export type ReadStatus =
  | { readonly kind: 'read'; readonly served: Served }
  | { readonly kind: 'failed'; readonly problem: string };

/** Undefined if the text is no report of a controller. */
export function reportIn(json: string): ShownReport | undefined {
  try {
    return reportSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/** Opens the way of one request: a host and port, or a connection. */
export type Way = () => Promise<Pick<RequestOptions, 'host' | 'port' | 'createConnection'>>;

/** In ms: more than the server rests between two renderings. */
const timeLimit = 10_000;
/** In bytes, of one answer. */
const maxLength = 64 * 1024 * 1024;

/** `limit`: of each answer, in ms. */
export async function readStatus(way: Way, limit = timeLimit): Promise<ReadStatus> {
  try {
    const [status, readiness] = await Promise.all([get(way, '/status', limit), get(way, '/readyz', limit)]);
    const report = status.code === 200 ? reportIn(status.body) : undefined;
    if (report === undefined)
      return {
        kind: 'failed',
        problem: `/status is answered with ${status.code} and no report of a controller: give the address of --serve-addr`,
      };
    const unready = readiness.code === 200 ? undefined : sanitizedText(readiness.body.trim());
    return { kind: 'read', served: { json: status.body, report, unready } };
  } catch (error) {
    return { kind: 'failed', problem: sanitizedText(reasonOf(error, limit)) };
  }
}

function reasonOf(error: unknown, limit: number): string {
  const { name, message, code } = error as Partial<NodeJS.ErrnoException>;
  // Our signal aborts for no other reason.
  if (name === 'AbortError') return `no answer within ${limit / 1000} s`;
  return message || code || String(error);
}

async function get(
  way: Way,
  path: string,
  limit: number,
): Promise<{ readonly code: number; readonly body: string }> {
  const opened = await way();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { host: 'localhost', connection: 'close' };
    const sent = request({ ...opened, path, headers, signal: AbortSignal.timeout(limit) });
    sent.once('response', resolve).on('error', reject).end();
  });
  return { code: response.statusCode ?? 0, body: await boundedText(response, { max: maxLength, clock }) };
}
