// EC2 as the cloud of a cluster for a test, with the policy of docs/iam-policy.json.
import { accessToEc2 } from '../../../rig/controller-process.ts';
import { Random } from '../../../src/runtime/random.ts';
import { systemClock as clock } from '../../../src/runtime/system-clock.ts';
import { machinesOf } from '../../../src/simulator/cluster/embedded-cluster.ts';
import { createEc2, type Ec2 } from '../../../src/simulator/ec2/create-ec2.ts';
import { startEc2Server } from '../../../src/simulator/ec2/ec2-server.ts';
import { shippedPolicy } from '../../support/shipped-policy.ts';
import { e2eTopology, podSubnetTags, region } from './e2e-topology.ts';
import type { ServedModel } from './model-cluster.ts';

export async function serveEc2Model(nodes: number): Promise<ServedModel & { readonly ec2: Ec2 }> {
  const ec2 = createEc2({ topology: e2eTopology({ nodes, scale: 5 }), clock, random: new Random('e2e') });
  const { gateway, network } = ec2;
  for (const credential of gateway.credentials)
    gateway.policies.set(gateway.arnOf(credential), shippedPolicy);
  const server = await startEc2Server({ gateway, clock, port: 0 });
  const [credential] = gateway.credentials;
  const credentials = {
    AWS_ACCESS_KEY_ID: credential?.accessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: credential?.secretAccessKey ?? '',
  };
  return {
    ec2,
    network,
    nodes: machinesOf(network).map((facts, index) => ({
      ...facts,
      protocol: index % 2 === 0 ? 'crd-allocator' : 'multi-pool',
      eni: { subnetTags: podSubnetTags },
    })),
    access: () => Promise.resolve(accessToEc2({ url: server.url, credentials }, region)),
    close: async () => {
      await server.close();
      ec2.clock.stop();
    },
  };
}
