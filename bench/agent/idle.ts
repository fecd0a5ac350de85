// An agent that nobody asks for anything: what it writes.
import { RigChild } from '../../rig/child-process.ts';
import { sleep } from '../../src/runtime/clock.ts';
import type { Reading } from '../figure.ts';
import type { Harness } from '../scenarios/scenarios.ts';
import { AgentProcess } from './agent-process.ts';

const pods = 10;

export async function idle(
  { minutes }: { readonly minutes: number },
  { clock, signal }: Harness,
): Promise<Reading> {
  const api = new RigChild({
    name: 'the API server',
    args: ['simulate', '--kubernetes', '--kubernetes-port=0'],
    bound: true,
  });
  const url = await api.waitForLine((line) => /^# the Kubernetes API on (http:\S+\d)/.exec(line)?.[1]);
  const agent = new AgentProcess(['--ipam=cluster-pool', '--node-name=one', `--k8s-api-server=${url}`]);
  try {
    await post(`${url}/api/v1/nodes`, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } });
    await post(`${url}/apis/cilium.io/v2/ciliumnodes`, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name: 'one' },
      spec: { ipam: { podCIDRs: ['10.64.0.0/24'] } },
    });
    await agent.start();
    await agent.many('ADD', 0, pods, { name: 'headwater-ipam', ipam: {} });
    await sleep(clock, 20_000, signal);
    const before = [await versionOf(url), bytesOf(agent)] as const;
    await sleep(clock, minutes * 60_000, signal);
    const after = [await versionOf(url), bytesOf(agent)] as const;
    const [writes, bytes] = [after[0] - before[0], after[1] - before[1]];
    return { measured: writes + bytes, details: `${writes} writes, ${bytes} bytes` };
  } finally {
    await agent.remove();
    await api.stop();
  }
}

function bytesOf(agent: AgentProcess): number {
  return [...agent.record().values()].reduce((sum, size) => sum + size, 0);
}

/** The resource version of the API server, which every write raises. */
async function versionOf(url: string): Promise<number> {
  const answer = await fetch(`${url}/apis/cilium.io/v2/ciliumnodes`);
  const { metadata } = (await answer.json()) as { metadata: { resourceVersion: string } };
  return Number(metadata.resourceVersion);
}

async function post(url: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}
