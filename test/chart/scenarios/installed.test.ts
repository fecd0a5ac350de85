// Applies each rendering to a real API server, and runs the controller as the service account and with the roles of the chart.
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { type JsonObject, textAt, valueAt } from '../../../src/simulator/workload/json.ts';
import { mountedConfig, type MountedConfig } from '../../support/config-directory.ts';
import type { E2eCluster } from '../../e2e/rig/e2e-cluster.ts';
import type { E2eController } from '../../e2e/rig/e2e-controller.ts';
import { sharedCluster } from '../../e2e/rig/shared-cluster.ts';
import { chart, frozenChart, pathOfValues, render, valueFiles } from '../rig/helm.ts';
import {
  dryApply,
  helmIn,
  install,
  installed,
  monitorDefinitions,
  namespace,
  pathOf,
  release,
} from '../rig/installation.ts';
import { argumentsOf, configOf, nameOf, podOf, theOne } from '../../../rig/manifests.ts';

/** Flags that name places of the cluster, which the test replaces. */
const elsewhere =
  /^(run$|--(serve-addr|config-dir|extra-ca-file|subnet-ids-filter|subnet-tags-filter|aws-region)=)/;
const elsewhereTested = ['agent', 'azure', 'blocks', 'nodeipam', 'pools', 'rrsa', 'rrsa-token'];
const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

describe('the chart on a real API server', () => {
  const shared = sharedCluster({ nodes: 1, withoutAgents: true, withoutRoles: true });
  const mounts: MountedConfig[] = [];

  /** Runs with the arguments and the ConfigMap of the chart, as its service account. */
  async function startAs(values: string): Promise<{ controller: E2eController; config: MountedConfig }> {
    const cluster = shared();
    const objects = await render(values);
    const config = mountedConfig();
    mounts.push(config);
    config.mount(configOf(objects));
    const controller = await cluster.startReadyController({
      kubeconfig: await cluster.api.kubeconfigOf(textAt(podOf(objects), 'serviceAccountName')),
      flags: [...argumentsOf(objects).filter((each) => !elsewhere.test(each)), `--config-dir=${config.path}`],
    });
    return { controller, config };
  }

  beforeAll(async () => {
    const { api } = shared();
    for (const definition of monitorDefinitions)
      await api.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await shared().until('ServiceMonitors are served', () =>
      api.call('GET', '/apis/monitoring.coreos.com/v1/servicemonitors').then(
        () => true,
        () => false,
      ),
    );
  });

  afterEach(async () => {
    const cluster: E2eCluster = shared();
    await Promise.all(cluster.controllers.map(({ process }) => process.child.kill()));
    for (const config of mounts.splice(0)) config.remove();
    await helmIn(cluster.api, 'uninstall', release, '--ignore-not-found');
    for (const name of ['headwater', 'headwater-trial']) {
      await cluster.api.call('DELETE', `${leases}/${name}`).catch(() => undefined);
    }
  });

  /** Every object of the rendering, once the API server has applied them. */
  async function appliedObjects(values: string): Promise<readonly JsonObject[]> {
    const { api } = shared();
    const objects = await render(values);
    const answers = await Promise.all(objects.map(async (each) => [nameOf(each), await dryApply(api, each)]));
    expect(answers.filter(([, status]) => status !== 200 && status !== 201)).toEqual([]);

    await install(api, values);
    expect(await installed(api)).toEqual(
      [...objects.map(nameOf), `Secret sh.helm.release.v1.${release}.v1`].toSorted(),
    );
    return objects;
  }

  // The cloud of these tests is EC2; the controller on Azure, and that of blocks, have tests of their own.
  test.each(elsewhereTested)('applies every object of the rendering: %s', async (values) => {
    expect((await appliedObjects(values)).map(nameOf)).toContain('Deployment headwater');
  });

  test.each(valueFiles.filter((values) => !elsewhereTested.includes(values)))(
    'applies every object of the rendering, and the controller works under its account: %s',
    async (values) => {
      const cluster = shared();
      const objects = await appliedObjects(values);

      await cluster.announce(cluster.machine());
      const { controller } = await startAs(values);
      if (configOf(objects)['dry-run'] === 'true') {
        await cluster.until('it says what it would do', () =>
          controller.lines.some(({ message }) => message.startsWith('dry run: would')),
        );
      } else {
        const { name } = cluster.machine();
        await cluster.until('the node has addresses', async () => (await cluster.pool(name)).length >= 8);
      }
      expect(controller.at('warn').filter(({ message }) => message.startsWith('may not'))).toEqual([]);
      expect(await controller.refused(cluster.signal)).toEqual([]);
    },
  );

  // Not these: the first version of the chart had no values for them.
  test.each(valueFiles.filter((values) => ![...elsewhereTested, 'observed'].includes(values)))(
    'is upgraded from its first version without a change of an immutable field: %s',
    async (values) => {
      const { api } = shared();
      await install(api, values, frozenChart);
      const before = await render(values, { chart: frozenChart });

      await helmIn(api, 'upgrade', release, chart, '--values', pathOfValues(values));

      const after = await render(values);
      expect(after.map(nameOf)).toEqual(expect.arrayContaining(before.map(nameOf)));
      expect(await installed(api)).toEqual(
        expect.arrayContaining([...after.map(nameOf), `Secret sh.helm.release.v1.${release}.v2`]),
      );
    },
  );

  test('is upgraded with the values of the release before (--reuse-values), which lack newer values', async () => {
    const { api } = shared();
    await install(api, 'irsa', frozenChart);

    await helmIn(api, 'upgrade', release, chart, '--reuse-values', '--set', 'dryRun=true');

    const config = pathOf(theOne(await render('irsa'), 'ConfigMap'));
    expect(valueAt(await api.call('GET', config), 'data', 'dry-run')).toBe('true');
  });

  test('pauses the controller without a restart', async () => {
    const cluster = shared();
    const { api } = cluster;
    await install(api, 'irsa');
    const deployment = pathOf(theOne(await render('irsa'), 'Deployment'));
    const { controller, config } = await startAs('irsa');
    const paused = ['--set', 'pause={mutations}'];

    await helmIn(api, 'upgrade', release, chart, '--values', pathOfValues('irsa'), ...paused);
    config.mount(configOf(await render('irsa', { args: paused })));

    await cluster.until('it is paused', async () => {
      const status = await controller.process.scrape(cluster.signal);
      return /headwater_mutations_\w+\{reason="paused"\} 1/.test(status);
    });
    expect(valueAt(await api.call('GET', deployment), 'metadata', 'generation')).toBe(1);
  });

  test('leaves its Lease and the CiliumNodes when it is uninstalled, and nothing else', async () => {
    const cluster = shared();
    const { api } = cluster;
    await install(api, 'monitored');
    const { controller } = await startAs('monitored');
    await cluster.until('it leads', async () => {
      return (await controller.metric('headwater_leader', cluster.signal)) === 1;
    });
    await controller.process.child.stop();

    await helmIn(api, 'uninstall', release);

    expect(await installed(api)).toEqual([]);
    expect(textAt(await api.call('GET', `${leases}/headwater`), 'metadata', 'name')).toBe('headwater');
    expect(await cluster.ciliumNodes()).toHaveLength(1);
  });

  test('names what a role has to grant when its account lacks it', async () => {
    const cluster = shared();
    const none = ['--set', 'rbac.create=false'];
    await helmIn(cluster.api, 'install', release, chart, '--values', pathOfValues('least'), ...none);
    const kubeconfig = await cluster.api.kubeconfigOf('headwater');

    const controller = await cluster.startController({ kubeconfig });

    await cluster.until('it says so', () =>
      controller
        .at('warn')
        .some(
          ({ message }) =>
            message ===
            'no permissions in this cluster: bind the roles of the chart to the service account (rbac.create)',
        ),
    );
    expect(controller.at('warn').filter(({ message }) => message.startsWith('may not'))).toEqual([]);
  });

  test('asks for Cilium when nothing defines CiliumNodes', async () => {
    const cluster = shared();
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await install(cluster.api, 'least');
    const kubeconfig = await cluster.api.kubeconfigOf('headwater');
    await cluster.api.call('DELETE', `${definitions}/${ciliumNodeCrd.metadata.name}`);

    const controller = await cluster.startController({ kubeconfig });
    await cluster.until('it says so', () =>
      controller.at('warn').some(({ text }) => text.includes('install Cilium, which registers it')),
    );

    const definition: unknown = ciliumNodeCrd;
    await cluster.api.call('POST', definitions, definition as JsonObject);
    await cluster.until('CiliumNodes are served again', () =>
      cluster.ciliumNodes().then(
        () => true,
        () => false,
      ),
    );
  });
});
