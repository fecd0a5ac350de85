// Another client of Azure Resource Manager, such as an administrator: reads and changes what it wants, over the model's
// HTTP front.
import { answerArm } from '../../src/simulator/arm/arm-http.ts';
import type { ArmGateway } from '../../src/simulator/arm/arm-gateway.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  parseObject,
  textAt,
} from '../../src/simulator/workload/json.ts';

export class ArmHand {
  readonly #gateway: ArmGateway;
  readonly #token: string;

  /** `name`: the name of the principal; the first of the topology by default. */
  constructor(gateway: ArmGateway, name?: string) {
    const { principals } = gateway.tokens;
    const principal = principals.find((each) => name === undefined || each.name === name);
    if (principal === undefined) throw new Error('the topology has no such principal');
    this.#token = gateway.tokens.issue(principal, 'https://management.azure.com', 1e9).token;
    this.#gateway = gateway;
  }

  /** The status and the body of an answer; nothing of one that is lost or spoiled. */
  async send(
    method: string,
    path: string,
    body?: JsonObject,
    ifMatch?: string,
  ): Promise<{ readonly status: number; readonly body: JsonObject }> {
    const outcome = await answerArm(
      {
        method,
        url: `${path}?api-version=2024-07-01`,
        headers: {
          host: 'management.azure.com',
          authorization: `Bearer ${this.#token}`,
          ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        },
        body: body === undefined ? '' : JSON.stringify(body),
      },
      this.#gateway,
    );
    if (outcome.kind !== 'answer' || outcome.cutAt !== undefined) return { status: 0, body: {} };
    const isJson = outcome.body.startsWith('{');
    return { status: outcome.status, body: isJson ? parseObject(outcome.body) : {} };
  }

  /**
   * Replaces the configurations of the first interface of a VM, or of an interface; the status of the answer. What others
   * changed meanwhile is not undone.
   */
  async change(path: string, edit: (configurations: readonly Json[]) => readonly Json[]): Promise<number> {
    const { status, body: model } = await this.send('GET', path);
    if (status !== 200) return status;
    return (await this.send('PUT', path, edited(model, edit), textAt(model, 'etag'))).status;
  }
}

/** A configuration in the subnet of the first one. */
export function oneMore(name: string): (configurations: readonly Json[]) => readonly Json[] {
  return (configurations) => {
    const { subnet, privateIPAddressVersion } = objectAt(configurations[0], 'properties');
    const more: Json = { name, properties: { privateIPAddressVersion, subnet } };
    return [...configurations, more];
  };
}

function edited(model: JsonObject, edit: (configurations: readonly Json[]) => readonly Json[]): JsonObject {
  const properties = objectAt(model, 'properties');
  const profile = objectAt(properties, 'networkProfileConfiguration');
  const [first, ...others] = listAt(profile, 'networkInterfaceConfigurations');
  const change = (holder: Json): JsonObject => {
    const own = objectAt(holder, 'properties');
    return {
      ...(isObject(holder) ? holder : {}),
      properties: { ...own, ipConfigurations: edit(listAt(own, 'ipConfigurations')) },
    };
  };
  if (first === undefined) return change(model);
  return {
    ...model,
    properties: {
      ...properties,
      networkProfileConfiguration: {
        ...profile,
        networkInterfaceConfigurations: [change(first), ...others],
      },
    },
  };
}
