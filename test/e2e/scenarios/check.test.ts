// The command check on a real API server, as the service account of the controller.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Ended, headwater } from '../../integration/commands/child.ts';
import { BlockCluster } from '../rig/block-cluster.ts';
import { createRoles, createServiceAccount, installNamespace as namespace } from '../rig/service-accounts.ts';
import type { ShippedRole } from '../rig/shipped-roles.ts';

const options = ['--ipam=cluster-pool', '--cluster-pool-ipv4-cidr=10.0.0.0/16'];

let cluster: BlockCluster;

beforeAll(async () => {
  cluster = await BlockCluster.start({ scope: 'cluster-pool', flags: options.slice(1) });
});

afterAll(() => cluster.stop());

async function checkAs(account: string, given: readonly string[] = options): Promise<Ended> {
  const kubeconfig = await cluster.api.kubeconfigOf(account);
  return headwater(['check', `--k8s-kubeconfig-path=${kubeconfig}`, ...given]);
}

describe('headwater check on a real API server', () => {
  test('finds the roles of the chart enough, asked as the account that has them', async () => {
    const { code, out, err } = await checkAs('headwater');

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^ok +API server: https:\/\/\S+ answers, version v1\./m);
    expect(out).toMatch(
      new RegExp(
        `^ok +permissions in Kubernetes: all \\d+ of system:serviceaccount:${namespace}:headwater `,
        'm',
      ),
    );
  });

  test('says what an account lacks: everything, or a verb', async () => {
    const role: ShippedRole = {
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: ['cilium.io'], resources: ['ciliumnodes'], verbs: ['get', 'list', 'watch'] }],
    };
    await createRoles(cluster.api.call, [role]);
    await createServiceAccount(cluster.api.call, 'bare', []);
    await createServiceAccount(cluster.api.call, 'reader', [role]);

    const bare = await checkAs('bare');
    const reader = await checkAs('reader');

    expect(bare.code).toBe(1);
    expect(bare.out).toMatch(
      /^problem +permissions in Kubernetes: all \d+ of \S+:bare are missing; remedy: bind/m,
    );
    expect(reader.code).toBe(1);
    expect(reader.out).toMatch(
      /may not patch ciliumnodes of \S+:reader: no node gets a block; remedy: let a role/,
    );
    expect(reader.out).not.toMatch(/may not list ciliumnodes/);
  });

  test('reads the real definition and the objects of a cloud, without credentials of the cloud', async () => {
    const flags = ['--aws-region=us-east-1', '--ec2-api-endpoint=http://127.0.0.1:1', '--cluster-name=mine'];
    await cluster.create('one');

    const { code, out } = await checkAs('headwater', flags);

    expect(code).toBe(1);
    expect(out).toMatch(/^ok +definition of CiliumNodes: it has the fields/m);
    expect(out).toMatch(/^problem +objects: 1 CiliumNode \(one\) without an instance ID; /m);
    expect(out).toMatch(/^problem +cloud: DescribeVpcs failed: CredentialsProviderError: /m);
  });
});
