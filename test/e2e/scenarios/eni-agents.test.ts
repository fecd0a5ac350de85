// Agents of Headwater with addresses of EC2, on a real API server: a process each, in either protocol, with nothing but the role
// that the chart ships for it. No Cilium runs: they create their CiliumNodes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentProcess, cniCall } from '../../integration/commands/agent-process.ts';
import { endAll } from '../../integration/commands/child.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { podSubnetTags } from '../rig/e2e-topology.ts';
import { createRoles, createServiceAccount } from '../rig/service-accounts.ts';
import { sharedCluster } from '../rig/shared-cluster.ts';
import { shippedRoles } from '../rig/shipped-roles.ts';

const account = 'headwater-agent';
const protocols = ['used', 'pools'] as const;
const podsOfNode = 20;

describe('nodes with agents of Headwater', () => {
  const shared = sharedCluster({ nodes: protocols.length, withoutAgents: true });
  const place = mkdtempSync(join(tmpdir(), 'headwater-eni-agents-'));
  let kubeconfig: string;

  beforeAll(async () => {
    const { api } = shared();
    const roles = await shippedRoles('agent');
    await createRoles(api.call, roles);
    await createServiceAccount(api.call, account, roles);
    kubeconfig = await api.kubeconfigOf(account);
    await shared().startReadyController();
  });

  afterAll(async () => {
    await endAll();
    rmSync(place, { recursive: true });
  });

  async function started(node: NodeFacts, protocol: string): Promise<AgentProcess> {
    const spec = join(place, `${node.name}.json`);
    const eni = { 'vpc-id': node.vpcId, 'subnet-tags': podSubnetTags, 'first-interface-index': 1 };
    writeFileSync(spec, JSON.stringify({ eni, ipam: { 'pre-allocate': 4 } }));
    const agent = new AgentProcess(mkdtempSync(join(place, 'agent-')), [
      '--ipam=eni',
      `--node-name=${node.name}`,
      `--cilium-node-protocol=${protocol}`,
      `--cilium-node-spec=${spec}`,
      `--k8s-kubeconfig-path=${kubeconfig}`,
    ]);
    await agent.start();
    return agent;
  }

  async function add(agent: AgentProcess, container: string): Promise<string> {
    const { body } = await agent.ask('POST', '/v1/cni', cniCall('ADD', container, { wait: '60s' }));
    const { ips = [] } = body as { readonly ips?: readonly { readonly address: string }[] };
    return ips[0]?.address ?? JSON.stringify(body);
  }

  /** With the length of their subnet, as pods get them. */
  function assigned({ instanceId }: NodeFacts): readonly string[] {
    const { interfaces, subnets } = shared().ec2.network;
    return [...interfaces.values()]
      .filter((item) => item.instanceId === instanceId)
      .flatMap(({ addresses, primaryAddress, subnetId }) => {
        const length = subnets.get(subnetId)?.block.split('/')[1] ?? '';
        return addresses.filter((each) => each !== primaryAddress).map((each) => `${each}/${length}`);
      });
  }

  test.each(protocols.map((protocol, index) => [protocol, index] as const))(
    'get the addresses that EC2 has assigned to them, with the protocol %s, also after a kill',
    async (protocol, index) => {
      const node = shared().machine(index);
      await shared().register(node);
      const first = await started(node, protocol);
      const containers = Array.from({ length: podsOfNode }, (_, at) => `c${at}`);

      const added = await Promise.all(containers.map((container) => add(first, container)));
      await first.child.stop('SIGKILL');
      await first.start();

      expect(new Set(added).size).toBe(podsOfNode);
      expect(assigned(node)).toEqual(expect.arrayContaining(added));
      expect(await Promise.all(containers.map((container) => add(first, container)))).toEqual(added);
    },
  );
});
