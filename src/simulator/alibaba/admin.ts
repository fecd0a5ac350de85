// The admin endpoint beside Alibaba Cloud's: what only this model has.
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
import { allActions } from './actions/all-actions.ts';
import type { AlibabaGateway } from './alibaba-gateway.ts';

const actionName = z.string().refine((name) => allActions.has(name), 'expected the name of an action');

const settings = z.strictObject({
  throttle: z.boolean(),
  limitScale: z.number().positive(),
  latencyScale: z.number().min(0),
  visibilityDelayMs: msRange,
  listingLagMs: msRange,
  shortPages: z.number().min(0).max(1),
  createMs: msRange,
  attachMs: msRange,
  detachMs: msRange,
  deleteMs: msRange,
});

type Settings = z.output<typeof settings>;

const routes: AdminRoutes<AlibabaGateway> = {
  ...commonRoutes<AlibabaGateway>({
    state: (gateway) => gateway.network.snapshot(),
    hasAction: (name) => allActions.has(name),
    hasOperations: true,
  }),
  'GET tokens': { run: (gateway) => gateway.limits.levels() },
  'POST tokens': route(
    z.strictObject({ action: actionName, count: z.number().positive() }),
    (gateway: AlibabaGateway, { action, count }) => {
      gateway.limits.drain(action, count);
      return gateway.limits.levels();
    },
  ),
  'GET settings': { run: settingsOf },
  'PUT settings': route(settings.partial(), (gateway: AlibabaGateway, change) => {
    changeSettings(gateway, change);
    return settingsOf(gateway);
  }),
};

/** Answers one request below `/_headwater/`. */
export function answerAdmin(request: AdminRequest, gateway: AlibabaGateway): HttpAnswer {
  return answer(request, gateway, routes);
}

function settingsOf({ limits, latency, network, times }: AlibabaGateway): Settings {
  const { attachMs, detachMs } = network.times;
  const { createMs, deleteMs } = times;
  return {
    throttle: limits.settings.throttle,
    limitScale: limits.settings.scale,
    latencyScale: latency.scale,
    ...network.consistency,
    createMs,
    attachMs,
    detachMs,
    deleteMs,
  };
}

function changeSettings(
  gateway: AlibabaGateway,
  change: { readonly [K in keyof Settings]?: Settings[K] | undefined },
): void {
  const { limits, latency, network } = gateway;
  // JSON has no undefined.
  const next = { ...settingsOf(gateway), ...change } as Settings;
  if (change.throttle !== undefined || change.limitScale !== undefined) {
    limits.change({ throttle: next.throttle, scale: next.limitScale });
  }
  gateway.latency = { ...latency, scale: next.latencyScale };
  const { visibilityDelayMs, listingLagMs, shortPages, createMs, deleteMs, attachMs, detachMs } = next;
  network.consistency = { visibilityDelayMs, listingLagMs, shortPages };
  network.times = { ...network.times, attachMs, detachMs };
  gateway.times = { createMs, deleteMs };
}
