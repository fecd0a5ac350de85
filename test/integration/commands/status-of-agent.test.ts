// `headwater status --node`: a real agent, at its address and in its pod, and everything that can be in the way.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type ForwardingFront, forwardingFront } from '../../support/forwarding-front.ts';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { AgentProcess, cniCall, freePort } from './agent-process.ts';
import { endAll, headwater, linesOf } from './child.ts';
import { testDirectory } from './test-directory.ts';

const directory = testDirectory('status-of-agent');
const ended: (() => Promise<void>)[] = [];
let agent: AgentProcess;
let port = 0;

beforeEach(async () => {
  port = await freePort();
  agent = new AgentProcess(mkdtempSync(join(directory.path, 'a-')), [
    '--ipam=host-scope',
    '--ipv4-range=10.0.0.0/24',
    '--node-name=node-a',
    `--agent-health-port=${port}`,
  ]);
  await agent.start();
  await agent.child.said(/"msg":"serving health/);
});

afterEach(async () => {
  await endAll();
  for (const end of ended.splice(0)) await end();
});

const podsPath = '/api/v1/namespaces/kube-system/pods';

/** `denied`: paths that answer with 403. */
async function apiServer(pods: readonly object[], denied = /^none$/): Promise<ForwardingFront> {
  const front = await forwardingFront(
    ({ url = '' }, response) => {
      const [path = '', query = ''] = url.split('?', 2);
      if (denied.test(path)) return json(response, 403, { kind: 'Status', message: 'forbidden', code: 403 });
      if (path !== podsPath) return json(response, 404, { kind: 'Status', message: 'not found', code: 404 });
      const asked = new URLSearchParams(query);
      expect(asked.get('labelSelector')).toBe('app.kubernetes.io/name=headwater-agent');
      const node = asked.get('fieldSelector')?.replace('spec.nodeName=', '');
      const items = pods.filter((pod) => (pod as { spec: { nodeName: string } }).spec.nodeName === node);
      json(response, 200, { items });
    },
    ({ url }) => !denied.test(String(url?.split('?', 1)[0])),
  );
  ended.push(front.close);
  return front;
}

function podOf(args: readonly string[], phase = 'Running'): object {
  return {
    metadata: { name: 'agent-1' },
    spec: { hostNetwork: true, nodeName: 'node-a', containers: [{ name: 'agent', args }] },
    status: { phase },
  };
}

const agentPod = (): object => podOf(['agent', `--agent-health-port=${port}`]);

describe('headwater status --node', () => {
  test('shows the agent at an address, with its pods and pools', async () => {
    await agent.ask('POST', '/v1/cni', cniCall('ADD'));

    const { code, out, err } = await headwater([
      'status',
      '--node=node-a',
      `--address=127.0.0.1:${port}`,
      '--output=json',
    ]);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      version: expect.any(String),
      node: 'node-a',
      mode: 'host-scope',
      attachments: 1,
      pools: [
        {
          pool: 'default',
          family: 'ipv4',
          cidrs: ['10.0.0.0/24'],
          capacity: expect.any(Number),
          used: 1,
          available: expect.any(Number),
          needed: expect.any(Number),
        },
      ],
    });
  });

  test('reads the pod of the agent on the node, at the loopback address of its host', async () => {
    const { url, forwarded } = await apiServer([agentPod()]);

    const { code, out } = await headwater(['status', '--node=node-a', `--k8s-api-server=${url}`]);

    expect(code).toBe(0);
    expect(linesOf(out)[0]).toMatch(/^node-a: agent, host-scope, version \S+$/);
    expect(out).toMatch(/^pods +0 interfaces with addresses$/m);
    expect(out).toMatch(/^default +ipv4 +\d+ +0 +\d+ +\d+ +10\.0\.0\.0\/24$/m);
    expect(forwarded).toEqual([`${podsPath}/agent-1/portforward?ports=${port}`]);
  });

  test.each<[string, () => readonly object[], RegExp | undefined, string, RegExp]>([
    [
      'a node without an agent',
      () => [agentPod()],
      undefined,
      'node-b',
      /headwater status: no agent \(a pod with app\S+\) is on "node-b" in kube-system: .*--k8s-namespace/,
    ],
    [
      'an agent that does not run',
      () => [podOf([], 'Pending')],
      undefined,
      'node-a',
      /the agent on "node-a" does not run: pod kube-system\/agent-1 is Pending;/,
    ],
    [
      'an agent that serves no status',
      () => [podOf(['agent'])],
      undefined,
      'node-a',
      /pod kube-system\/agent-1 has no argument --agent-health-port, so its status is not served: set that option/,
    ],
    [
      'no right to list pods',
      () => [agentPod()],
      /pods$/,
      'node-a',
      /not allowed to list the pods of kube-system, which needs list on pods: forbidden/,
    ],
    [
      'no right to forward ports',
      () => [agentPod()],
      /portforward$/,
      'node-a',
      /not allowed to forward a port of pod kube-system\/agent-1, which needs \w+ on pods\/portforward in kube-system/,
    ],
  ])('could not find out: %s', async (_, pods, denied, node, why) => {
    const { url } = await apiServer(pods(), denied);

    const { code, out, err } = await headwater(['status', `--node=${node}`, `--k8s-api-server=${url}`]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(why);
  });

  test.each<[string, () => Promise<string>, RegExp]>([
    [
      'the agent of another node',
      () => Promise.resolve(`127.0.0.1:${port}`),
      /the agent of node-a answers, not that of node-b/,
    ],
    [
      'a controller',
      () => serverThatReports({ state: 'leading', identity: 'a', paused: [] }),
      /cannot read 127\.0\.0\.1:\d+: a controller answers there: leave out --node/,
    ],
    [
      'something else',
      () => serverThatReports({ pools: 'x' }),
      /\/status is answered with 200 and no report of an agent: update it/,
    ],
    ['nothing', async () => `127.0.0.1:${await freePort()}`, /cannot read 127\.0\.0\.1:\d+: .*ECONNREFUSED/],
  ])('is not answered by %s at an address', async (_, address, why) => {
    const { code, err } = await headwater(['status', '--node=node-b', `--address=${await address()}`]);

    expect(code).toBe(2);
    expect(err).toMatch(why);
  });
});

async function serverThatReports(report: object): Promise<string> {
  const server = await loopbackServer((_, response) => json(response, 200, report));
  ended.push(server.close);
  return new URL(server.url).host;
}
