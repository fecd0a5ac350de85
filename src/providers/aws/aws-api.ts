// The only file that imports the AWS SDK for EC2. The SDK signs, sends and decodes errors. It must never
// retry: a repeated AssignPrivateIpAddresses assigns twice.
import {
  AssignIpv6AddressesCommand,
  AssignPrivateIpAddressesCommand,
  AssociateAddressCommand,
  AttachNetworkInterfaceCommand,
  CreateNetworkInterfaceCommand,
  DeleteNetworkInterfaceCommand,
  DescribeAddressesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  DetachNetworkInterfaceCommand,
  EC2Client,
  type EC2ClientConfig,
  GetSubnetCidrReservationsCommand,
  ModifyNetworkInterfaceAttributeCommand,
  UnassignPrivateIpAddressesCommand,
} from '@aws-sdk/client-ec2';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { HttpSenderOptions } from '../../network/http-sender.ts';
import { compactPages } from './compact-pages.ts';
import { secondsIn } from '../../network/bounded-body.ts';
import { CredentialRenewals } from '../../network/credential-renewals.ts';
import { DepartingRequest, neverLeft } from '../../network/departing-request.ts';
import { agentsVia } from '../../network/pre-send-agents.ts';
import { ProxiedHandler } from '../../network/proxied-handler.ts';
import { isRead } from '../gate/action-client.ts';
import { CallError, type CallResult, messageOf, type Sending } from '../gate/cloud-call.ts';
import { failureOf } from './errors.ts';
import type { Ec2Action, Ec2Api, Ec2Input, Ec2Output } from './ec2-api.ts';
import type { AssumedRole } from './shared-subnet-tags.ts';
import type { StsOptions, TemporaryKeys } from './sts-api.ts';
import type { WhereaboutsSource } from './whereabouts.ts';

export interface AwsApiOptions {
  readonly http: HttpSenderOptions;
  /** Undefined: the SDK's own chain (environment, shared configuration). */
  readonly region: string | undefined;
  /** URL; undefined: the SDK's own choice. */
  readonly endpoint: string | undefined;
  /** Sends requests instead of the network. */
  readonly handler?: Handler;
  /** Whether the environment sets an STS endpoint, which the SDK reads. */
  readonly hasStsEndpoint?: boolean;
  /** Keys instead of those of the SDK's own chain. */
  readonly credentials?: NonNullable<EC2ClientConfig['credentials']>;
}

type Handler = NonNullable<EC2ClientConfig['requestHandler']>;

type CommandOf<A extends Ec2Action> = new (input: Ec2Input<A>) => Parameters<EC2Client['send']>[0];

const commands = {
  AssignIpv6Addresses: AssignIpv6AddressesCommand,
  AssignPrivateIpAddresses: AssignPrivateIpAddressesCommand,
  AssociateAddress: AssociateAddressCommand,
  AttachNetworkInterface: AttachNetworkInterfaceCommand,
  CreateNetworkInterface: CreateNetworkInterfaceCommand,
  DeleteNetworkInterface: DeleteNetworkInterfaceCommand,
  DescribeAddresses: DescribeAddressesCommand,
  DescribeInstances: DescribeInstancesCommand,
  DescribeInstanceTypes: DescribeInstanceTypesCommand,
  DescribeNetworkInterfaces: DescribeNetworkInterfacesCommand,
  DescribeRouteTables: DescribeRouteTablesCommand,
  DescribeSecurityGroups: DescribeSecurityGroupsCommand,
  DescribeSubnets: DescribeSubnetsCommand,
  DescribeVpcs: DescribeVpcsCommand,
  DetachNetworkInterface: DetachNetworkInterfaceCommand,
  GetSubnetCidrReservations: GetSubnetCidrReservationsCommand,
  ModifyNetworkInterfaceAttribute: ModifyNetworkInterfaceAttributeCommand,
  UnassignPrivateIpAddresses: UnassignPrivateIpAddressesCommand,
} satisfies Record<Ec2Action, unknown>;

/**
 * Changes that do no harm when they arrive twice: the same by their client token, or of a value. Another assignment adds
 * addresses, and what another release names may belong to others by then. A second attachment is refused although the first
 * succeeded.
 */
const repeatable: ReadonlySet<Ec2Action> = new Set([
  'CreateNetworkInterface',
  'ModifyNetworkInterfaceAttribute',
]);

export class AwsApi implements Ec2Api, WhereaboutsSource {
  readonly #config: EC2ClientConfig;
  readonly #client: EC2Client;
  readonly #options: AwsApiOptions;
  readonly #handler: Handler;
  readonly #renewals: CredentialRenewals<Keys | undefined>;

  constructor(options: AwsApiOptions) {
    this.#options = options;
    this.#handler = options.handler ?? handlerOf(options.http);
    const config: EC2ClientConfig = {
      maxAttempts: 1,
      customUserAgent: 'headwater',
      requestHandler: this.#handler,
    };
    if (options.region !== undefined) config.region = options.region;
    if (options.endpoint !== undefined) config.endpoint = options.endpoint;
    if (options.credentials !== undefined) config.credentials = options.credentials;
    this.#config = config;
    this.#client = new EC2Client({ ...config });
    this.#client.middlewareStack.use(compactPages(options.http.clock));
    // This middleware would traverse every answer for log lines that are dropped.
    this.#client.middlewareStack.remove('loggerMiddleware');
    const source = { current: () => this.#keys(false), renew: () => this.#keys(true), isSame: areSame };
    this.#renewals = new CredentialRenewals<Keys | undefined>(source, options.http.clock);
  }

  /** The region that the SDK found; undefined if neither the SDK nor the options have one. */
  async region(): Promise<string | undefined> {
    try {
      return await this.#client.config.region();
    } catch {
      // The SDK rejects if the region is missing.
      return undefined;
    }
  }

  async account(signal: AbortSignal): Promise<string | undefined> {
    const { readAccount } = await import('./sts-api.ts');
    return readAccount(this.#stsOptions(), signal);
  }

  /** The same endpoint for a role that our identity assumes: with connections of its own, so that neither waits for the other. */
  assuming(role: AssumedRole): AwsApi {
    const credentials = async (): Promise<TemporaryKeys> => {
      const { assumeRole } = await import('./sts-api.ts');
      const giveUp = new AbortController();
      const cancel = this.#options.http.clock.schedule(maxStsWait, () => giveUp.abort());
      return assumeRole(this.#stsOptions(), role, giveUp.signal).finally(cancel);
    };
    return new AwsApi({ ...this.#options, credentials });
  }

  #stsOptions(): StsOptions {
    const { region, credentials } = this.#client.config;
    const { endpoint, hasStsEndpoint = false } = this.#options;
    const places = { ec2Endpoint: endpoint, hasOwnEndpoint: hasStsEndpoint };
    return { region, credentials, requestHandler: this.#handler, ...places };
  }

  /**
   * Why the SDK finds no endpoint; undefined if it finds one. Uses a separate client with dummy credentials,
   * so nothing is sent, not even a credential request.
   */
  async endpointProblem(): Promise<string | undefined> {
    const found = new Error('an endpoint is found');
    const client = new EC2Client({
      ...this.#config,
      credentials: { accessKeyId: '-', secretAccessKey: '-' },
    });
    // The SDK resolves the endpoint in the step before.
    client.middlewareStack.add(() => () => Promise.reject(found), { step: 'build', priority: 'high' });
    try {
      await client.send(new DescribeVpcsCommand({}));
    } catch (error) {
      if (error !== found) return error instanceof Error ? error.message : String(error);
    }
    return undefined;
  }

  async send<A extends Ec2Action>(action: A, input: Ec2Input<A>, sending: Sending): Promise<Ec2Output<A>> {
    // The table holds the command of each action, which TypeScript cannot follow through a type parameter.
    const Command = commands[action] as unknown as CommandOf<A>;
    const departing = new DepartingRequest(sending);
    // Runs after everything that can delay a request: credentials, body, signature.
    const gate =
      <I, O>(next: (args: I) => Promise<O>) =>
      (args: I): Promise<O> =>
        departing.depart(isRead(action) || repeatable.has(action), () => next(args));
    const send = async (): Promise<Ec2Output<A>> => {
      const command = new Command(input);
      command.middlewareStack.add(gate, { step: 'deserialize', priority: 'low', name: 'gate' });
      // The answer was read by the shape of this action.
      return (await this.#client.send(command, { abortSignal: sending.signal })) as Ec2Output<A>;
    };
    const isRefused = (error: unknown): boolean => isOfCredentials(action, error);
    try {
      return await this.#renewals.send(send, isRefused, await this.#keys(false));
    } catch (error) {
      throw departing.rejection(() => callErrorOf(error));
    }
  }

  /** Undefined if there are none: a call says why. */
  #keys(isNew: boolean): Promise<Keys | undefined> {
    return this.#client.config.credentials({ forceRefresh: isNew }).catch(() => undefined);
  }

  close(): void {
    this.#client.destroy();
  }
}

/** How long keys of a role are waited for, in ms. */
const maxStsWait = 5000;

interface Keys {
  readonly accessKeyId: string;
  readonly sessionToken?: string | undefined;
}

function areSame(one: Keys | undefined, other: Keys | undefined): boolean {
  return one?.accessKeyId === other?.accessKeyId && one?.sessionToken === other?.sessionToken;
}

/** Credentials that the SDK cannot get were never refused. */
function isOfCredentials(action: Ec2Action, error: unknown): boolean {
  const refusal = callErrorOf(error);
  return refusal.result === 'refused' && failureOf(action, refusal).credentials !== undefined;
}

/** The request handler for the client and for the clients of its credential chain. */
function handlerOf(options: HttpSenderOptions): Handler {
  const { connectionTimeout, proxyFor, onRoute } = options;
  const handlerVia = (proxy: URL | undefined): NodeHttpHandler => {
    const { http: httpAgent, https: httpsAgent } = agentsVia(proxy, options);
    return new NodeHttpHandler({ connectionTimeout, httpAgent, httpsAgent });
  };
  return new ProxiedHandler({ proxyFor, handlerVia, onRoute });
}

/** Error codes of Node.js and the SDK for a request that never left. */
const notSent: ReadonlySet<unknown> = new Set([
  ...neverLeft,
  'CredentialsProviderError',
  'TokenProviderError',
]);

interface SdkError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly $fault?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly headers?: Readonly<Record<string, string | undefined>> };
}

const programFailed =
  'the credential_process of the profile failed; run it by hand to see its output, which is not logged because it may hold credentials';

/** Converts an error of the SDK to ours. Exported only for its table test. */
export function callErrorOf(error: unknown): CallError {
  const { name, message, code, $fault, $metadata = {}, $response } = (error ?? {}) as SdkError;
  const answered = $fault !== undefined && typeof name === 'string' && name !== 'Unknown';
  const fromProgram = isOfProgram(message);
  const detail = {
    message: fromProgram ? programFailed : messageOf(error),
    code: answered ? name : firstText(code, name),
    status: $metadata.httpStatusCode,
    requestId: $metadata.requestId,
    retryAfter: secondsIn($response?.headers?.['retry-after'], 300),
  };
  // The command line and output of a credential program may contain secrets.
  return new CallError(
    { ...detail, result: resultOf(answered, detail) },
    fromProgram ? {} : { cause: error },
  );
}

/** Node.js starts the message this way, with the whole command line, and the SDK keeps it. */
function isOfProgram(message: unknown): boolean {
  return typeof message === 'string' && message.includes('Command failed');
}

function firstText(...items: readonly unknown[]): string {
  return items.find((item) => typeof item === 'string') ?? 'Error';
}

function resultOf(
  answered: boolean,
  {
    code,
    message,
    status,
  }: { readonly code: string; readonly message: string; readonly status: number | undefined },
): CallResult {
  // A 5xx other than a throttle may come after the change was made.
  if (answered) return (status ?? 500) < 500 || code === 'RequestLimitExceeded' ? 'refused' : 'noAnswer';
  const early = notSent.has(code) || /did not establish a connection|Region is missing/.test(message);
  return early ? 'notSent' : 'noAnswer';
}
