// Finds the pod of the agent on a node, and reads its status over a connection through the API server.
import type { ForwardingTransport, PodPort } from '../../kubernetes/port-forward/pod-port.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { type Json, listAt, textAt } from '../../runtime/json.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { argumentOf, inWords, placeOf, PodWay } from './pod-way.ts';
import { readAgent, type ServedAgent } from './served-report.ts';

/** The pods of the chart that are agents. */
const selector = 'app.kubernetes.io/name=headwater-agent';
/** Time limit of the request, in ms. */
const timeoutMs = 10_000;

/** Resolves to why nothing is read, if so. */
export async function readAgentOf(
  transport: ForwardingTransport,
  { namespace, node }: { readonly namespace: string; readonly node: string },
  signal: AbortSignal,
): Promise<ServedAgent | string> {
  const query = new URLSearchParams({ labelSelector: selector, fieldSelector: `spec.nodeName=${node}` });
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?limit=10&${query.toString()}`;
  const reply = await ask(transport, { method: 'GET', path, timeoutMs }, signal);
  if (reply.kind !== 'ok') return inWords(`list the pods of ${namespace}`, 'list on pods', reply);
  const found = serving(listAt(reply.object, 'items'), { namespace, node });
  if (typeof found === 'string') return found;
  const way = new PodWay(transport, found, signal);
  const read = await readAgent(way.open);
  return typeof read === 'string' ? (way.refusal ?? `cannot read ${placeOf(found)}: ${read}`) : read;
}

/** The port where an agent serves its status, or why there is none. */
function serving(
  pods: readonly Json[],
  { namespace, node }: { readonly namespace: string; readonly node: string },
): PodPort | string {
  const on = `on ${JSON.stringify(sanitizedText(node, 253))}`;
  const pod = pods.find((each) => textAt(each, 'status', 'phase') === 'Running') ?? pods[0];
  if (pod === undefined)
    return `no agent (a pod with ${selector}) is ${on} in ${namespace}: check the name of the node, name the namespace of the agents with --k8s-namespace, or forward the port of --agent-health-port and give --address`;
  const name = textAt(pod, 'metadata', 'name') ?? '';
  const place = placeOf({ namespace, pod: name });
  const phase = textAt(pod, 'status', 'phase');
  if (phase !== 'Running')
    return `the agent ${on} does not run: ${place} is ${sanitizedText(phase ?? 'unknown')}; kubectl describe pod says why`;
  const port = argumentOf(pod, /(?:^|\s)--agent-health-port[=\s](\d+)(?:\s|$)/);
  return port === undefined
    ? `${place} has no argument --agent-health-port, so its status is not served: set that option`
    : { namespace, pod: name, port: Number(port) };
}
