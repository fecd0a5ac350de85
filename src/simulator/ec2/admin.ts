// The admin endpoint beside EC2's: inspects the cloud and injects faults.
import * as z from 'zod';
import type { Fault, FaultRule } from '../cloud/faults.ts';
import { msRange } from '../cloud/topology-fields.ts';
import { allActions } from './actions/all-actions.ts';
import type { Ec2Gateway } from './ec2-gateway.ts';
import type { HttpOutcome } from './ec2-http.ts';

export interface AdminRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

const prefix = '/_headwater/';

const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('error'),
    code: z.string().default('InternalError'),
    status: z.int().min(400).max(599).default(500),
    message: z.string().default('An internal error has occurred'),
  }),
  z.strictObject({ kind: z.literal('throttle') }),
  z.strictObject({ kind: z.literal('slow'), ms: z.number().min(0) }),
  z.strictObject({
    kind: z.literal('lost'),
    effect: z.enum(['before', 'after', 'late']),
    connection: z.enum(['drop', 'hang']).default('drop'),
    delayMs: z.number().min(0).default(0),
  }),
  z.strictObject({
    kind: z.literal('garbled'),
    form: z.enum(['truncated', 'empty', 'idsMissing', 'unknownEnum', 'html502']),
  }),
]) satisfies z.ZodType<Fault>;

const actionName = z.string().refine((name) => allActions.has(name), 'expected the name of an action');

const faultRule = z.strictObject({
  action: z.union([z.literal('*'), actionName]).default('*'),
  rate: z.number().min(0).max(1).default(1),
  count: z.int().min(1).optional(),
  match: z.record(z.string(), z.string()).default({}),
  fault,
}) satisfies z.ZodType<FaultRule>;

const settings = z.strictObject({
  throttle: z.boolean().optional(),
  limitScale: z.number().positive().optional(),
  latencyScale: z.number().min(0).optional(),
  refuseUnpaginated: z.boolean().optional(),
  visibilityDelayMs: msRange.optional(),
  listingLagMs: msRange.optional(),
});

/** Handles a validated body; the result is returned as JSON. */
interface Route<T = unknown> {
  readonly body?: z.ZodType<T>;
  readonly run: (gateway: Ec2Gateway, body: T, rest: string) => unknown;
}

function route<T>(body: z.ZodType<T>, run: Route<T>['run']): Route {
  return { body, run } as Route;
}

const routes: Readonly<Record<string, Route>> = {
  'GET state': { run: (gateway) => gateway.network.snapshot() },
  'GET calls': { run: (gateway) => gateway.counters.all() },
  'DELETE calls': { run: (gateway) => gateway.counters.reset() },
  'GET faults': { run: (gateway) => gateway.faults.rules },
  'POST faults': route(faultRule, (gateway, rule) => ({ id: gateway.faults.add(rule) })),
  'DELETE faults': { run: (gateway, _, id) => removeFaults(gateway, id) },
  'GET allowed-actions': { run: (gateway) => ({ actions: allowedIn(gateway) }) },
  'PUT allowed-actions': route(
    z.strictObject({ actions: z.array(actionName).nullable() }),
    (gateway, body) => {
      gateway.allowedActions = body.actions === null ? undefined : new Set(body.actions);
    },
  ),
  'GET time': { run: (gateway) => timeOf(gateway) },
  'PUT time': route(z.strictObject({ pace: z.number().positive() }), (gateway, { pace }) => {
    gateway.clock.setPace(pace);
    return timeOf(gateway);
  }),
  'GET tokens': { run: (gateway) => gateway.limits.levels() },
  'POST tokens': route(
    z.strictObject({ action: actionName, count: z.number().positive(), whole: z.boolean().default(false) }),
    (gateway, { action, count, whole }) => {
      gateway.limits.drain({ action, whole }, count);
      return gateway.limits.levels();
    },
  ),
  'GET settings': { run: (gateway) => settingsOf(gateway) },
  'PUT settings': route(settings, (gateway, change) => {
    changeSettings(gateway, change);
    return settingsOf(gateway);
  }),
};

/** Answers one request below `/_headwater/`. */
export function answerAdmin({ method, url, body }: AdminRequest, gateway: Ec2Gateway): HttpOutcome {
  const [name = '', rest = ''] = url.slice(prefix.length).split('?')[0]?.split('/') ?? [];
  const found = routes[`${method} ${name}`];
  if (found === undefined) {
    return json(404, { error: `no such route: ${method} ${url}`, routes: Object.keys(routes) });
  }
  const content =
    found.body === undefined ? { success: true as const, data: undefined } : checked(found.body, body);
  if (!content.success) return json(400, { error: content.problem });
  return json(200, found.run(gateway, content.data, rest) ?? {});
}

function checked(
  schema: z.ZodType,
  body: string,
):
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly problem: string } {
  try {
    const result = schema.safeParse(JSON.parse(body));
    return result.success
      ? { success: true, data: result.data }
      : { success: false, problem: z.prettifyError(result.error) };
  } catch (error) {
    if (error instanceof SyntaxError) return { success: false, problem: 'the body is not JSON' };
    throw error;
  }
}

function removeFaults(gateway: Ec2Gateway, id: string): unknown {
  if (id !== '') return { removed: gateway.faults.remove(Number(id)) };
  gateway.faults.clear();
  return { removed: true };
}

function allowedIn(gateway: Ec2Gateway): readonly string[] | null {
  return gateway.allowedActions === undefined ? null : [...gateway.allowedActions].toSorted();
}

function timeOf({ clock }: Ec2Gateway): unknown {
  return { pace: clock.pace, now: new Date(clock.wall()).toISOString() };
}

function settingsOf(gateway: Ec2Gateway): unknown {
  const { settings: limits } = gateway.limits;
  const { visibilityDelayMs, listingLagMs } = gateway.network.consistency;
  return {
    throttle: limits.throttle,
    limitScale: limits.scale,
    latencyScale: gateway.latency.scale,
    refuseUnpaginated: gateway.refuseUnpaginated,
    visibilityDelayMs,
    listingLagMs,
  };
}

function changeSettings(gateway: Ec2Gateway, change: z.output<typeof settings>): void {
  const { limits, latency, network } = gateway;
  const { throttle = limits.settings.throttle, limitScale = limits.settings.scale } = change;
  if (change.throttle !== undefined || change.limitScale !== undefined) {
    limits.change({ throttle, scale: limitScale });
  }
  gateway.latency = { ...latency, scale: change.latencyScale ?? latency.scale };
  gateway.refuseUnpaginated = change.refuseUnpaginated ?? gateway.refuseUnpaginated;
  const { visibilityDelayMs, listingLagMs } = network.consistency;
  network.consistency = {
    ...network.consistency,
    visibilityDelayMs: change.visibilityDelayMs ?? visibilityDelayMs,
    listingLagMs: change.listingLagMs ?? listingLagMs,
  };
}

function json(status: number, content: unknown): HttpOutcome {
  const headers = { 'content-type': 'application/json' };
  return { kind: 'answer', status, headers, body: `${JSON.stringify(content, undefined, 2)}\n` };
}
