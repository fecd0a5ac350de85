// Calls of the plugin on a machine in virtual time.
import { type JsonObject, isList, textAt, valueAt } from '../../../src/runtime/json.ts';
import type { AgentMachine } from '../../simulation/agent/agent-machine.ts';
import { cniCall } from '../commands/agent-process.ts';

export interface PluginCall {
  readonly verb: string;
  readonly container: string;
  /** The section of the network. */
  readonly ipam?: object;
  /** CNI_ARGS. */
  readonly args?: string;
}

export interface PluginAnswer {
  /** Undefined if no agent answered. */
  readonly exit: string | undefined;
  /** With the length of their networks. */
  readonly addresses: readonly string[];
  readonly gateways: readonly string[];
  /** The first address alone. */
  readonly ip: string | undefined;
  readonly message: string | undefined;
}

const never = new AbortController().signal;

/** What the agent of a machine answers. */
export async function callPlugin(
  machine: AgentMachine,
  { verb, container, ipam, args }: PluginCall,
): Promise<PluginAnswer> {
  const { body = '' } = cniCall(verb, container, ipam, args);
  const request = { method: 'POST', path: '/v1/cni', query: new URLSearchParams(), headers: {}, body };
  const answer = await machine.call(request, never);
  const out = JSON.parse(answer?.body || '{}') as JsonObject;
  const ips = valueAt(out, 'ips');
  const addresses = isList(ips) ? ips.map((each) => textAt(each, 'address') ?? '') : [];
  return {
    exit: answer?.headers?.['x-cni-exit'],
    addresses,
    gateways: isList(ips) ? ips.map((each) => textAt(each, 'gateway') ?? '') : [],
    ip: addresses[0]?.split('/')[0],
    message: textAt(out, 'msg'),
  };
}
