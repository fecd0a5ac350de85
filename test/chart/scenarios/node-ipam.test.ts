import { describe, expect, test } from '@jest/globals';
import { objectsIn, ofKind } from '../../../rig/manifests.ts';
import { listAt, objectAt, textAt, valueAt, type JsonObject } from '../../../src/simulator/workload/json.ts';
import { shippedRoles } from '../../e2e/rig/shipped-roles.ts';
import { templateWith } from '../rig/helm.ts';

const name = 'headwater-nodeipam';
const image = { repository: 'registry.example/headwater' };

async function rendered(nodeIpam: JsonObject): Promise<readonly JsonObject[]> {
  const { output } = await templateWith({ image, nodeIpam });
  return objectsIn(output).filter((object) => textAt(object, 'metadata', 'name') === name);
}

describe('nodeIpam of the chart', () => {
  test('adds nothing unless it is enabled', async () => {
    expect(await rendered({ options: { 'cluster-cidr': '10.0.0.0/8' } })).toEqual([]);
  });

  test('adds a Deployment with an account, roles and a budget of its own', async () => {
    const objects = await rendered({
      enabled: true,
      options: { 'cluster-cidr': '10.0.0.0/8', 'log-level': 'debug' },
    });
    const [deployment = {}] = ofKind(objects, 'Deployment');
    const [container = {}] = listAt(deployment, 'spec', 'template', 'spec', 'containers');
    const roles = await shippedRoles('nodeipam');

    expect(objects.map((object) => textAt(object, 'kind')).toSorted()).toEqual([
      'ClusterRole',
      'ClusterRoleBinding',
      'ConfigMap',
      'Deployment',
      'PodDisruptionBudget',
      'Role',
      'RoleBinding',
      'ServiceAccount',
    ]);
    expect(valueAt(container, 'args')).toEqual([
      'nodeipam',
      '--config-dir=/etc/headwater',
      '--serve-addr=127.0.0.1:9967',
      '--cluster-cidr=10.0.0.0/8',
      '--log-level=debug',
    ]);
    expect(textAt(deployment, 'spec', 'template', 'spec', 'serviceAccountName')).toBe(name);
    for (const role of roles) expect(valueAt(ofKind(objects, role.kind)[0], 'rules')).toEqual(role.rules);
  });

  test('may set the condition of Nodes, and use a role of a cloud, where they follow one', async () => {
    const serviceAccountAnnotations = {
      'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/nodes',
    };
    const options = { 'cidr-allocator-type': 'CloudAllocator', 'cloud-provider': 'aws' };
    const objects = await rendered({ enabled: true, options, serviceAccountAnnotations });
    const [clusterRole] = await shippedRoles('nodeipam-cloud');

    expect(valueAt(ofKind(objects, 'ClusterRole')[0], 'rules')).toEqual(clusterRole?.rules);
    expect(valueAt(ofKind(objects, 'ServiceAccount')[0], 'metadata', 'annotations')).toEqual(
      serviceAccountAnnotations,
    );
  });

  test('finds no pod of the other Deployment', async () => {
    const { output } = await templateWith({
      image,
      nodeIpam: { enabled: true, options: { 'cluster-cidr': '10.0.0.0/8' } },
    });
    const selectors = ofKind(objectsIn(output), 'Deployment').map((deployment) =>
      textAt(objectAt(deployment, 'spec', 'selector', 'matchLabels'), 'app.kubernetes.io/name'),
    );

    expect(new Set(selectors)).toEqual(new Set(['headwater', 'headwater-nodeipam']));
  });
});
