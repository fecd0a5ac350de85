// The admin endpoint beside EC2's: what only this model has.
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
import type { Ec2Gateway } from './ec2-gateway.ts';

const actionName = z.string().refine((name) => allActions.has(name), 'expected the name of an action');

const settings = z.strictObject({
  throttle: z.boolean().optional(),
  limitScale: z.number().positive().optional(),
  latencyScale: z.number().min(0).optional(),
  refuseUnpaginated: z.boolean().optional(),
  visibilityDelayMs: msRange.optional(),
  listingLagMs: msRange.optional(),
});

const routes: AdminRoutes<Ec2Gateway> = {
  ...commonRoutes<Ec2Gateway>({
    state: (gateway) => gateway.network.snapshot(),
    hasAction: (name) => allActions.has(name),
    hasOperations: false,
  }),
  'GET tokens': { run: (gateway) => gateway.limits.levels() },
  'POST tokens': route(
    z.strictObject({ action: actionName, count: z.number().positive(), whole: z.boolean().default(false) }),
    (gateway: Ec2Gateway, { action, count, whole }) => {
      gateway.limits.drain({ action, whole }, count);
      return gateway.limits.levels();
    },
  ),
  'GET settings': { run: (gateway) => settingsOf(gateway) },
  'PUT settings': route(settings, (gateway: Ec2Gateway, change) => {
    changeSettings(gateway, change);
    return settingsOf(gateway);
  }),
};

/** Answers one request below `/_headwater/`. */
export function answerAdmin(request: AdminRequest, gateway: Ec2Gateway): HttpAnswer {
  return answer(request, gateway, routes);
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
