// One request to the embedded Kubernetes API, for tests that expect no refusal.
import type { JsonObject } from '../../src/simulator/workload/json.ts';
import type { KubernetesClient } from '../../src/simulator/workload/kubernetes-client.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface KubernetesCall {
  readonly method: Method;
  readonly path: string;
  readonly body: JsonObject;
}

const forever = new AbortController().signal;

/** The object in the answer; rejects if the API refuses. */
export async function callKubernetes(
  client: KubernetesClient,
  { method, path, body }: KubernetesCall,
): Promise<JsonObject> {
  const answer = await {
    GET: () => client.get(path, forever),
    POST: () => client.create(path, body, forever),
    PUT: () => client.replace(path, body, forever),
    PATCH: () => client.mergePatch(path, body, forever),
    DELETE: () => client.delete(path, body, forever),
  }[method]();
  if (answer.kind === 'refused') throw new Error(`${method} ${path}: ${answer.status} ${answer.message}`);
  return answer.object;
}
