// The admin endpoint beside Azure's: what only this model has.
import * as z from 'zod';
import {
  type AdminRequest,
  type AdminRoutes,
  answerAdmin as answer,
  commonRoutes,
  route,
} from '../admin-endpoint.ts';
import { msRange } from '../cloud/topology-fields.ts';
import type { HttpAnswer } from '../http-front.ts';
import type { ArmGateway } from './arm-gateway.ts';
import { allOperations } from './router.ts';

const names = new Set(allOperations.map(({ name }) => name));

const settings = z.strictObject({
  throttle: z.boolean(),
  limitScale: z.number().positive(),
  latencyScale: z.number().min(0),
  listingLagMs: msRange,
  pageSize: z.int().min(1),
  respelled: z.number().min(0).max(1),
  headers: z.enum(['asyncOperation', 'location', 'both']),
  retryAfter: z.int().min(0),
  fullSubnet: z.enum(['atOnce', 'atTheEnd']),
});

type Settings = z.output<typeof settings>;

const routes: AdminRoutes<ArmGateway> = {
  ...commonRoutes<ArmGateway>({
    state: (gateway) => gateway.cloud.network.snapshot(),
    hasAction: (name) => names.has(name),
    hasOperations: true,
  }),
  'GET tokens': { run: (gateway) => gateway.limits.levels() },
  'POST tokens': route(
    z.strictObject({ limit: z.string(), count: z.number().positive() }),
    (gateway: ArmGateway, { limit, count }) => {
      gateway.limits.drain(limit, count);
      return gateway.limits.levels();
    },
  ),
  'POST bearers': route(
    z.strictObject({ principal: z.string(), audience: z.string(), seconds: z.number().default(3600) }),
    ({ tokens }: ArmGateway, { principal: name, audience, seconds }) => {
      const principal = tokens.principals.find((each) => each.name === name);
      return principal === undefined ? {} : tokens.issue(principal, audience, seconds);
    },
  ),
  'GET settings': { run: settingsOf },
  'PUT settings': route(settings.partial(), (gateway: ArmGateway, change) => {
    changeSettings(gateway, change);
    return settingsOf(gateway);
  }),
};

/** Answers one request below `/_headwater/`. */
export function answerAdmin(request: AdminRequest, gateway: ArmGateway): HttpAnswer {
  return answer(request, gateway, routes);
}

function settingsOf({ limits, latency, cloud }: ArmGateway): Settings {
  return {
    throttle: limits.settings.throttle,
    limitScale: limits.settings.scale,
    latencyScale: latency.scale,
    listingLagMs: cloud.network.consistency.listingLagMs,
    pageSize: cloud.pageSize,
    respelled: cloud.respelled,
    ...cloud.operationAnswers,
  };
}

function changeSettings(
  gateway: ArmGateway,
  change: { readonly [K in keyof Settings]?: Settings[K] | undefined },
): void {
  const { limits, latency, cloud } = gateway;
  // JSON has no undefined.
  const next = { ...settingsOf(gateway), ...change } as Settings;
  if (change.throttle !== undefined || change.limitScale !== undefined) {
    limits.change({ throttle: next.throttle, scale: next.limitScale });
  }
  gateway.latency = { ...latency, scale: next.latencyScale };
  cloud.network.consistency = { ...cloud.network.consistency, listingLagMs: next.listingLagMs };
  cloud.pageSize = next.pageSize;
  cloud.respelled = next.respelled;
  const { headers, retryAfter, fullSubnet } = next;
  cloud.operationAnswers = { headers, retryAfter, fullSubnet };
}
