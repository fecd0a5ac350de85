import { expect, test } from '@jest/globals';
import { MeteredTransport } from '../../../../src/controller/reporting/metered-transport.ts';
import type { TransportRequest } from '../../../../src/kubernetes/transport/transport.ts';
import { createMetricRegistry } from '../../../../src/observability/metrics.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ScriptedTransport } from '../../kubernetes/scripted-transport.ts';

const nodes = '/apis/cilium.io/v2/ciliumnodes';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

test.each<[TransportRequest['method'], string, string, string]>([
  ['GET', `${nodes}?limit=500`, 'list', 'ciliumnodes'],
  ['GET', `${nodes}/a`, 'get', 'ciliumnodes'],
  ['PATCH', `${nodes}/a`, 'patch', 'ciliumnodes'],
  ['PATCH', `${nodes}/a/status`, 'patch', 'ciliumnodes/status'],
  ['GET', '/api/v1/pods?fieldSelector=x', 'list', 'pods'],
  ['GET', `${leases}/headwater`, 'get', 'leases'],
  ['PUT', `${leases}/headwater`, 'update', 'leases'],
  ['POST', leases, 'create', 'leases'],
  ['POST', '/api/v1/namespaces/default/events', 'create', 'events'],
])('the request %s %s counts as %s of %s', async (method, path, verb, resource) => {
  const registry = createMetricRegistry({ measureProcess: false });
  const inner = new ScriptedTransport(new VirtualClock(), () => ({ status: 403 }));
  const transport = new MeteredTransport(inner, registry.metrics);

  await transport.send({ method, path }, new AbortController().signal);

  const series = `headwater_kubernetes_requests_total{verb="${verb}",resource="${resource}",code="403"} 1`;
  expect(await registry.scrape()).toContain(series);
});
