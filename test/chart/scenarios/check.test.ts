// The Job that checks before each install and upgrade: what it is, and that its account may read what the command reads.
import { describe, expect, test } from '@jest/globals';
import { type JsonObject, listAt, objectAt, textAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { nameOf, objectsIn, ofKind, theOne } from '../../../rig/manifests.ts';
import { RigChild } from '../../../rig/child-process.ts';
import { sharedCluster } from '../../e2e/rig/shared-cluster.ts';
import { render, templateWith, valueFiles } from '../rig/helm.ts';
import { pathOf } from '../rig/installation.ts';

const isHook = (object: JsonObject): boolean =>
  valueAt(object, 'metadata', 'annotations', 'helm.sh/hook') === 'pre-install,pre-upgrade';

async function hooksOf(values: string, ...args: readonly string[]): Promise<readonly JsonObject[]> {
  const objects = await render(values, { args: ['--set', 'check.enabled=true', ...args] });
  return objects.filter(isHook);
}

function podOf(hooks: readonly JsonObject[]): JsonObject {
  return objectAt(theOne(hooks, 'Job'), 'spec', 'template', 'spec');
}

function argumentsOf(hooks: readonly JsonObject[]): readonly string[] {
  const [container] = listAt(podOf(hooks), 'containers') as readonly JsonObject[];
  return listAt(container ?? {}, 'args').map(String);
}

/** In these, no controller runs that the command knows. */
const checked = valueFiles.filter((values) => !['agent', 'nodeipam'].includes(values));

describe('the Job that checks', () => {
  test('is off by default', async () => {
    expect((await render('irsa')).filter(isHook)).toEqual([]);
  });

  test.each(checked)('runs before anything else, as an account of its own: %s', async (values) => {
    const hooks = await hooksOf(values);
    const pod = podOf(hooks);

    const name = values === 'own-lease' ? 'headwater-trial-check' : 'headwater-check';
    expect(hooks.map(nameOf).toSorted()).toEqual(
      ['ClusterRole', 'ClusterRoleBinding', 'Job', 'Role', 'RoleBinding', 'ServiceAccount'].map(
        (kind) => `${kind} ${name}`,
      ),
    );
    const weightOf = (kind: string): number =>
      Number(valueAt(theOne(hooks, kind), 'metadata', 'annotations', 'helm.sh/hook-weight'));
    expect(weightOf('ServiceAccount')).toBeLessThan(weightOf('RoleBinding'));
    expect(weightOf('RoleBinding')).toBeLessThan(weightOf('Job'));
    expect(textAt(pod, 'serviceAccountName')).toBe(name);
    expect(argumentsOf(hooks).slice(0, 2)).toEqual(['check', '--skip-access-review']);
    expect(valueAt(pod, 'securityContext')).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 });
    const verbs = [...ofKind(hooks, 'ClusterRole'), ...ofKind(hooks, 'Role')]
      .flatMap((role) => listAt(role, 'rules') as readonly JsonObject[])
      .flatMap((rule) => listAt(rule, 'verbs'));
    expect(new Set(verbs)).toEqual(new Set(['get', 'list']));
  });

  test('has the options of the controller, and those of Cilium where they are mounted', async () => {
    const hooks = await hooksOf('irsa', '--set', 'ciliumConfig.mount=true');
    const controller = (await render('irsa')).find((each) => textAt(each, 'kind') === 'Deployment') ?? {};
    const [container] = listAt(controller, 'spec', 'template', 'spec', 'containers') as readonly JsonObject[];
    const given = listAt(container ?? {}, 'args').map(String);

    const options = given.filter((each) => !/^(run$|--serve-addr|--config-dir)/.test(each));
    expect(argumentsOf(hooks)).toEqual([
      'check',
      '--skip-access-review',
      '--config-dir=/etc/headwater',
      ...options,
    ]);
  });

  test('takes the role of the cloud from the account of the controller, unless it has its own', async () => {
    const role = 'eks.amazonaws.com/role-arn';
    const account = (hooks: readonly JsonObject[]): unknown =>
      valueAt(theOne(hooks, 'ServiceAccount'), 'metadata', 'annotations', role);
    const own = 'check.serviceAccountAnnotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::1:role/check';

    expect(account(await hooksOf('irsa'))).toMatch(/^arn:aws:iam::\d+:role\//);
    expect(account(await hooksOf('irsa', '--set', own))).toBe('arn:aws:iam::1:role/check');
  });

  test.each([
    [undefined, []],
    ['pool=blue', ['leases']],
  ])(
    'may list Leases where they say which nodes other releases serve: node-selector=%s',
    async (selector, more) => {
      const args = selector === undefined ? [] : ['--set', `options.node-selector=${selector}`];
      const role = theOne(await hooksOf('irsa', ...args), 'ClusterRole');

      const resources = (listAt(role, 'rules') as readonly JsonObject[]).flatMap((rule) =>
        listAt(rule, 'resources'),
      );
      expect(resources).toEqual([
        'ciliumnodes',
        'ciliumpodippools',
        'nodes',
        'pods',
        'customresourcedefinitions',
        ...more,
      ]);
    },
  );

  test.each([
    [{ mode: 'nodeipam', options: { 'cluster-cidr': '10.0.0.0/16' } }, 'false while mode is nodeipam'],
    [{ controller: { enabled: false } }, 'false while controller.enabled is false'],
  ])('is refused where nothing is to be checked: %j', async (values, words) => {
    const { exitCode, errors } = await templateWith({ ...values, check: { enabled: true } });

    expect(exitCode).not.toBe(0);
    expect(errors).toContain(words);
  });

  test('renders without the value, as with the values of a release before', async () => {
    const { exitCode, output } = await templateWith({ check: null });

    expect(exitCode).toBe(0);
    expect(objectsIn(output).filter(isHook)).toEqual([]);
  });
});

describe('the account of the Job that checks, on a real API server', () => {
  const shared = sharedCluster({ nodes: 1, withoutAgents: true, withoutRoles: true });

  test.each([
    ['all that the command reads', undefined],
    ['no more: without the rule for pods', 'pods'],
    ['no more: without the rule for Nodes', 'nodes'],
    ['no more: without the rule for CiliumNodes', 'ciliumnodes'],
  ])('may read %s', async (_, without) => {
    const cluster = shared();
    const { api } = cluster;
    const objects = (await hooksOf('irsa')).filter((each) => textAt(each, 'kind') !== 'Job');
    for (const object of objects) {
      const rules = (listAt(object, 'rules') as readonly JsonObject[]).map((rule) => ({
        ...rule,
        resources: listAt(rule, 'resources').filter((each) => each !== without),
      }));
      const applied = textAt(object, 'kind') === 'ClusterRole' ? { ...object, rules } : object;
      const path = pathOf(object);
      await api.call('POST', path.slice(0, path.lastIndexOf('/')), applied);
    }
    await cluster.announce(cluster.machine());

    const rows = await rowsAs(await api.kubeconfigOf('headwater-check'));
    for (const object of objects) await api.call('DELETE', pathOf(object));

    expect(rows.some(({ what }) => what === 'permissions in Kubernetes')).toBe(false);
    const unread = rows.filter(({ verdict }) => verdict === 'unknown').map(({ found }) => found);
    if (without === undefined) expect(unread).toEqual([]);
    else expect(unread.join()).toContain(without);
  });

  async function rowsAs(kubeconfig: string): Promise<readonly Row[]> {
    const { flags, env } = shared().cloudAccess().cloud;
    const args = [
      'check',
      '--skip-access-review',
      '--output=json',
      `--k8s-kubeconfig-path=${kubeconfig}`,
      '--cluster-name=e2e',
      ...flags,
    ];
    const child = new RigChild({ name: 'the check', args, env: { ...env } });
    const lines: string[] = [];
    child.onEachLine((line) => lines.push(line));
    await child.ended;
    return (JSON.parse(lines.join('')) as { readonly findings: readonly Row[] }).findings;
  }
});

interface Row {
  readonly what: string;
  readonly found: string;
  readonly verdict: string;
}
