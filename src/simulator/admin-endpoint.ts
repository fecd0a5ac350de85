// The endpoint beside every model of a cloud: inspects it and injects faults. A model adds what only it has.
import * as z from 'zod';
import type { CallCounters } from './cloud/call-counters.ts';
import type { Fault, FaultRule, Faults } from './cloud/faults.ts';
import type { PacedClock } from './cloud/paced-clock.ts';
import type { HttpAnswer } from './http-front.ts';

export interface AdminRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** The parts that every model has. */
export interface Administered {
  readonly faults: Faults;
  readonly counters: CallCounters;
  readonly clock: PacedClock;
  allowedActions: ReadonlySet<string> | undefined;
}

export const adminPrefix = '/_headwater/';

/** Handles a validated body; the result is returned as JSON. */
export interface AdminRoute<G, T = unknown> {
  readonly body?: z.ZodType<T>;
  readonly run: (gateway: G, body: T, rest: string) => unknown;
}

/** Routes by method and name: `GET state`. */
export type AdminRoutes<G> = Readonly<Record<string, AdminRoute<G>>>;

export function route<G, T>(body: z.ZodType<T>, run: AdminRoute<G, T>['run']): AdminRoute<G> {
  return { body, run } as AdminRoute<G>;
}

const faults = [
  z.strictObject({
    kind: z.literal('error'),
    code: z.string().default('InternalError'),
    status: z.int().min(400).max(599).default(500),
    message: z.string().default('An internal error has occurred'),
    retryAfter: z.int().min(1).optional(),
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
] as const;

const failed = z.strictObject({
  kind: z.literal('failed'),
  isHalfDone: z.boolean().default(false),
  code: z.string().default('InternalExecutionError'),
  message: z.string().default('An internal execution error occurred. Please retry later.'),
});

/** The routes of every model. `hasOperations`: its changes can fail after they are accepted. */
export function commonRoutes<G extends Administered>(options: {
  readonly state: (gateway: G) => unknown;
  readonly hasAction: (name: string) => boolean;
  readonly hasOperations: boolean;
}): AdminRoutes<G> {
  const actionName = z.string().refine(options.hasAction, 'expected the name of an action');
  const fault: z.ZodType<Fault> = options.hasOperations
    ? z.discriminatedUnion('kind', [...faults, failed])
    : z.discriminatedUnion('kind', faults);
  const faultRule = z.strictObject({
    action: z.union([z.literal('*'), actionName]).default('*'),
    rate: z.number().min(0).max(1).default(1),
    count: z.int().min(1).optional(),
    match: z.record(z.string(), z.string()).default({}),
    fault,
  }) satisfies z.ZodType<FaultRule>;
  return {
    'GET state': { run: options.state },
    'GET calls': { run: (gateway) => gateway.counters.all() },
    'GET answers': { run: (gateway) => ({ answers: gateway.counters.answers }) },
    'DELETE calls': { run: (gateway) => gateway.counters.reset() },
    'GET faults': { run: (gateway) => gateway.faults.rules },
    'POST faults': route(faultRule, (gateway: G, rule) => ({ id: gateway.faults.add(rule) })),
    'DELETE faults': { run: (gateway, _, id) => removeFaults(gateway, id) },
    'GET allowed-actions': { run: (gateway) => ({ actions: allowedIn(gateway) }) },
    'PUT allowed-actions': route(
      z.strictObject({ actions: z.array(actionName).nullable() }),
      (gateway: G, { actions }) => {
        gateway.allowedActions = actions === null ? undefined : new Set(actions);
      },
    ),
    'GET time': { run: timeOf },
    'PUT time': route(z.strictObject({ pace: z.number().positive() }), (gateway: G, { pace }) => {
      gateway.clock.setPace(pace);
      return timeOf(gateway);
    }),
  };
}

/** Answers one request below `/_headwater/`. */
export function answerAdmin<G>(
  { method, url, body }: AdminRequest,
  gateway: G,
  routes: AdminRoutes<G>,
): HttpAnswer {
  const [name = '', rest = ''] = url.slice(adminPrefix.length).split('?')[0]?.split('/') ?? [];
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

function removeFaults(gateway: Administered, id: string): unknown {
  if (id !== '') return { removed: gateway.faults.remove(Number(id)) };
  gateway.faults.clear();
  return { removed: true };
}

function allowedIn(gateway: Administered): readonly string[] | null {
  return gateway.allowedActions === undefined ? null : [...gateway.allowedActions].toSorted();
}

function timeOf({ clock }: Administered): unknown {
  return { pace: clock.pace, now: new Date(clock.wall()).toISOString() };
}

function json(status: number, content: unknown): HttpAnswer {
  const headers = { 'content-type': 'application/json' };
  return { kind: 'answer', status, headers, body: `${JSON.stringify(content, undefined, 2)}\n` };
}
