// Installs the chart with helm on a real API server, and reads the installed objects.
import { isObject, type JsonObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { RealApi } from '../../e2e/rig/real-api.ts';
import { chart, helmDone, pathOfValues } from './helm.ts';
import { nameOf } from '../../../rig/manifests.ts';

export const namespace = 'kube-system';
export const release = 'headwater';

/** The path of an object, in its namespace if it has one. */
const places: Readonly<Record<string, string>> = {
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  ConfigMap: `/api/v1/namespaces/${namespace}/configmaps`,
  DaemonSet: `/apis/apps/v1/namespaces/${namespace}/daemonsets`,
  Deployment: `/apis/apps/v1/namespaces/${namespace}/deployments`,
  NetworkPolicy: `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`,
  PodDisruptionBudget: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
  Role: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
  RoleBinding: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
  Secret: `/api/v1/namespaces/${namespace}/secrets`,
  Service: `/api/v1/namespaces/${namespace}/services`,
  ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
  PrometheusRule: `/apis/monitoring.coreos.com/v1/namespaces/${namespace}/prometheusrules`,
  ServiceMonitor: `/apis/monitoring.coreos.com/v1/namespaces/${namespace}/servicemonitors`,
};

export function pathOf(object: JsonObject): string {
  const place = places[textAt(object, 'kind')];
  if (place === undefined) throw new RangeError(`nobody knows where a ${textAt(object, 'kind')} is`);
  return `${place}/${textAt(object, 'metadata', 'name')}`;
}

/** The answer of the API server to applying the object as a dry run. */
export async function dryApply(api: RealApi, object: JsonObject): Promise<number> {
  const { status } = await api.handler(
    {
      method: 'PATCH',
      url: `${pathOf(object)}?dryRun=All&fieldManager=test&force=true&fieldValidation=Strict`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify(object),
    },
    new AbortController().signal,
  );
  return status;
}

/** Runs `helm install`, `helm upgrade`, ... as an administrator. */
export function helmIn(api: RealApi, ...args: readonly string[]): Promise<string> {
  const server = ['--kube-apiserver', api.url, '--kube-ca-file', api.caFile, '--kube-token', api.adminToken];
  return helmDone(...args, '--namespace', namespace, ...server);
}

export async function install(api: RealApi, values: string, from = chart): Promise<void> {
  await helmIn(api, 'install', release, from, '--values', pathOfValues(values));
}

/** Objects by kind and name, including those of the release itself. */
export async function installed(api: RealApi): Promise<readonly string[]> {
  const lists = await Promise.all(
    Object.entries(places).map(async ([kind, place]) => {
      const found = await api.call('GET', place).catch(() => ({ items: [] }));
      return listAt(found, 'items')
        .filter(isObject)
        .filter((each) => isOurs(each))
        .map((each) => nameOf({ ...each, kind }));
    }),
  );
  return lists.flat().toSorted();
}

function isOurs(object: JsonObject): boolean {
  const name = textAt(object, 'metadata', 'labels', 'app.kubernetes.io/instance');
  return name === release || textAt(object, 'metadata', 'name').includes(release);
}

/** The definitions of a Prometheus operator, so that ServiceMonitors and PrometheusRules are served. */
export const monitorDefinitions: readonly JsonObject[] = [
  definitionOf('ServiceMonitor'),
  definitionOf('PrometheusRule'),
];

function definitionOf(kind: string): JsonObject {
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      group: 'monitoring.coreos.com',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
