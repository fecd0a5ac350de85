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
  name: text.optional(),
  zone: text,
  cidr: text,
  counted: z.boolean(),
  size: z.number(),
  free: z.number(),
  reserved: z.number(),
  exhausted: z.boolean(),
  fragmented: z.boolean(),
  held: z.number().optional(),
  used: z.number().optional(),
  daysLeft: z.number().optional(),
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

const call = z.object({
  secondsAgo: z.number(),
  operation: text,
  resource: text,
  outcome: text,
  action: text.optional(),
  code: text.optional(),
  message: text.optional(),
  requestId: text.optional(),
});
const verdict = z.object({
  id: text,
  name: text.optional(),
  zone: text,
  free: z.number(),
  isEligible: z.boolean(),
  why: text.optional(),
});

const decision = { would: text, did: text };

const nodeSchema = z.object({
  known: z.literal(true),
  name: text,
  standing: text,
  instance: text.optional(),
  reason: text.optional(),
  why: text.optional(),
  inDeficitForSeconds: z.number().optional(),
  available: z.number().optional(),
  used: z.number().optional(),
  wanted: z.number().optional(),
  excess: z.number().optional(),
  pendingPods: z.number().optional(),
  ipv6: text.optional(),
  interfaces: z
    .array(
      z.object({
        id: text,
        subnet: text,
        deviceIndex: z.number().optional(),
        addresses: z.number(),
        prefixes: z.number(),
      }),
    )
    .optional(),
  excluded: z.array(z.object({ interface: text, why: text })).optional(),
  warnings: z.array(node).optional(),
  watermarks: z
    .object({
      preAllocate: z.number(),
      minAllocate: z.number(),
      maxAllocate: z.number(),
      maxAboveWatermark: z.number(),
    })
    .optional(),
  capacity: z
    .object({
      instanceType: text,
      interfaces: z.number(),
      attached: z.number(),
      addressesPerInterface: z.number(),
      addresses: z.number(),
      prefixes: z.boolean(),
    })
    .optional(),
  selection: z.object({ rule: text, subnets: z.array(verdict) }).optional(),
  calls: z.array(call).optional(),
  dryRun: z
    .object({ would: counts, subnets: counts.optional(), decidedOtherwise: z.object(decision).optional() })
    .optional(),
  podCIDRs: z.array(text).optional(),
  pools: z.array(pool).optional(),
  /** Leaders of every version that tells the chain have it. */
  next: z.object({ inSeconds: z.number().optional(), what: text, sooner: z.array(text) }).optional(),
});

const unknownNodeSchema = z.object({
  known: z.literal(false),
  state: text,
  leader: text.optional(),
  nearest: text.optional(),
});

export type ShownNode = z.output<typeof nodeSchema>;
export type ToldOfNode = ShownNode | z.output<typeof unknownNodeSchema>;

const reportSchema = z.object({
  version: text.optional(),
  state: text,
  identity: text,
  leader: text.optional(),
  leaderAddress: text.optional(),
  nodeSelector: text.optional(),
  leftToOthers: z.number().optional(),
  overlaps: z.array(z.object({ node: text, why: text })).optional(),
  restartNeeded: z.array(text).optional(),
  paused: z.array(pause),
  reasons: counts.optional(),
  nodes: counts.optional(),
  addresses: counts.optional(),
  pendingPods: z.number().optional(),
  ready: z.boolean().optional(),
  notReadyBecause: text.optional(),
  readyForSeconds: z.number().optional(),
  notReadyForSeconds: z.number().optional(),
  cloudRead: z.object({ ageSeconds: z.number().optional(), problem: text.optional() }).optional(),
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
  /** By state; only where the question asks for them. */
  nodeNames: z.record(z.string(), z.array(text)).optional(),
  cluster: z.object({ name: text, tag: text, instances: z.number(), doubt: text.optional() }).optional(),
  dryRun: z
    .object({
      sentence: text,
      would: counts,
      same: z.number().optional(),
      otherwise: z.number().optional(),
      decidedOtherwise: z.array(z.object({ node: text, ...decision })).optional(),
    })
    .optional(),
  unverified: z.object({ problem: text.optional(), count: z.number() }).optional(),
});

export type ShownReport = z.output<typeof reportSchema>;

export interface Served {
  /** The answer of /status as it is. */
  readonly json: string;
  readonly report: ShownReport;
  /** Why the controller is not ready; undefined if it is. */
  readonly unready: string | undefined;
  /** The answer about the node that was asked for. */
  readonly node?: { readonly json: string; readonly report: ToldOfNode };
}

const agentSchema = z.object({
  version: text.optional(),
  node: text,
  mode: text,
  waitingFor: text.optional(),
  problem: text.optional(),
  attachments: z.number(),
  pools: z.array(
    z.object({
      pool: text,
      family: text,
      cidrs: z.array(text),
      capacity: z.number(),
      used: z.number(),
      available: z.number(),
      needed: z.number(),
    }),
  ),
});

export type ShownAgent = z.output<typeof agentSchema>;

export interface ServedAgent {
  /** The answer of /status as it is. */
  readonly json: string;
  readonly report: ShownAgent;
}

/** Undefined if the text is no report of a controller. */
export function reportIn(json: string): ShownReport | undefined {
  return answerIn(json, reportSchema);
}

/** Undefined if the text says nothing of a node. */
export function nodeIn(json: string): ToldOfNode | undefined {
  return answerIn(json, z.union([nodeSchema, unknownNodeSchema]));
}

/** Undefined if the text is no JSON of this shape. */
export function answerIn<T>(json: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(json)).data;
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

export interface Question {
  /** Whether to read what is known of this node, too. */
  readonly node?: string | undefined;
  /** Time limit of each answer, in ms. */
  readonly limit?: number;
}

/** Resolves to why nothing is read, if so. */
export async function readStatus(
  way: Way,
  { node, limit = timeLimit }: Question = {},
): Promise<Served | string> {
  try {
    const [status, readiness, ofNode] = await Promise.all([
      get(way, '/status', limit),
      get(way, '/readyz', limit),
      node === undefined ? undefined : get(way, `/status?node=${encodeURIComponent(node)}`, limit),
    ]);
    const report = status.code === 200 ? reportIn(status.body) : undefined;
    if (report === undefined)
      return `/status is answered with ${status.code} and no report of a controller: give the address of --serve-addr`;
    const unready = readiness.code === 200 ? undefined : sanitizedText(readiness.body.trim());
    const served = { json: status.body, report, unready };
    if (ofNode === undefined) return served;
    const told = nodeIn(ofNode.body);
    return told === undefined
      ? `${withVersion(report)} tells nothing of single nodes: update it`
      : { ...served, node: { json: ofNode.body, report: told } };
  } catch (error) {
    return sanitizedText(reasonOf(error, limit));
  }
}

/** Resolves to why nothing is read, if so. */
export async function readAgent(way: Way, limit = timeLimit): Promise<ServedAgent | string> {
  try {
    const { code, body } = await get(way, '/status', limit);
    const report = code === 200 ? answerIn(body, agentSchema) : undefined;
    if (report !== undefined) return { json: body, report };
    const isController = code === 200 && reportIn(body) !== undefined;
    return isController
      ? 'a controller answers there: leave out --node'
      : `/status is answered with ${code} and no report of an agent: update it, or give the address of --agent-health-port`;
  } catch (error) {
    return sanitizedText(reasonOf(error, limit));
  }
}

function withVersion({ identity, version }: ShownReport): string {
  return `${identity}${version === undefined ? '' : `, of version ${version},`}`;
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
