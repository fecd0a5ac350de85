// The one file that imports the AWS SDK. The SDK signs, sends and decodes; it must never retry by itself, because a
// repeated AssignPrivateIpAddresses assigns twice.
import {
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
  ModifyNetworkInterfaceAttributeCommand,
  UnassignPrivateIpAddressesCommand,
} from '@aws-sdk/client-ec2';
import { untrustedCertificate } from '../../network/certificate-trouble.ts';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { compactPages } from './compact-pages.ts';
import {
  type Ec2Action,
  type Ec2Api,
  Ec2CallError,
  type Ec2CallResult,
  type Ec2Input,
  type Ec2Output,
  type Sending,
} from './ec2-api.ts';
import { lookingAgent, lookingOnceConnected, lookingTlsAgent } from './looking-agents.ts';
import { ProxiedHandler } from './proxied-handler.ts';

export interface AwsApiOptions {
  /** Undefined: the SDK's own chain (environment, shared configuration). */
  readonly region: string | undefined;
  /** URL; undefined: the SDK's own choice. */
  readonly endpoint: string | undefined;
  /** Most connections to one host. */
  readonly connections: number;
  /** Of a connection, in ms. Requests are ended by their signal. */
  readonly connectionTimeout: number;
  /** The proxy for a target; undefined: none. */
  readonly proxyFor: (target: URL) => URL | undefined;
  /** Told before the first request to each host, those that credentials are had from included. */
  readonly onRoute: (host: string, proxy: URL | undefined) => void;
  /** Sends in the place of the network. */
  readonly handler?: Handler;
}

type Handler = NonNullable<EC2ClientConfig['requestHandler']>;

type CommandOf<A extends Ec2Action> = new (input: Ec2Input<A>) => Parameters<EC2Client['send']>[0];

const commands = {
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
  ModifyNetworkInterfaceAttribute: ModifyNetworkInterfaceAttributeCommand,
  UnassignPrivateIpAddresses: UnassignPrivateIpAddressesCommand,
} satisfies Record<Ec2Action, unknown>;

export class AwsApi implements Ec2Api {
  readonly #client: EC2Client;

  constructor(options: AwsApiOptions) {
    const config: EC2ClientConfig = {
      maxAttempts: 1,
      customUserAgent: 'headwater',
      requestHandler: options.handler ?? handlerOf(options),
    };
    if (options.region !== undefined) config.region = options.region;
    if (options.endpoint !== undefined) config.endpoint = options.endpoint;
    this.#client = new EC2Client(config);
    this.#client.middlewareStack.use(compactPages());
    // It walks through all of an answer for lines that nobody reads.
    this.#client.middlewareStack.remove('loggerMiddleware');
  }

  /** The region that the SDK found; undefined when neither it nor the options name one. */
  async region(): Promise<string | undefined> {
    try {
      return await this.#client.config.region();
    } catch {
      // The SDK says "missing" by rejecting.
      return undefined;
    }
  }

  async send<A extends Ec2Action>(
    action: A,
    input: Ec2Input<A>,
    { signal, onSend, onConnected = () => undefined }: Sending,
  ): Promise<Ec2Output<A>> {
    // The table holds the command of each action, which TypeScript cannot follow through a type parameter.
    const Command = commands[action] as unknown as CommandOf<A>;
    const command = new Command(input);
    let refusal: { readonly reason: unknown } | undefined;
    const look = (check: () => void): void => {
      try {
        check();
      } catch (reason) {
        refusal = { reason };
        throw reason;
      }
    };
    // Behind all that takes time before a request can leave: credentials, the body, the signature.
    const gate =
      <I, O>(next: (args: I) => Promise<O>) =>
      async (args: I): Promise<O> => {
        look(onSend);
        return lookingOnceConnected(
          () => look(onConnected),
          () => next(args),
        );
      };
    command.middlewareStack.add(gate, { step: 'deserialize', priority: 'low', name: 'gate' });
    try {
      return await this.#client.send(command, { abortSignal: signal });
    } catch (error) {
      throw refusal === undefined ? callErrorOf(error) : refusal.reason;
    }
  }

  close(): void {
    this.#client.destroy();
  }
}

/** Sends what the client and the clients of its credential chain have to send. */
function handlerOf({ connections, connectionTimeout, proxyFor, onRoute }: AwsApiOptions): Handler {
  const handlerVia = (proxy: URL | undefined): NodeHttpHandler => {
    // Which requests go through it is decided before: the agents are told of no exceptions.
    const proxyEnv = proxy && { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href };
    const agent = { keepAlive: true, maxSockets: connections, ...(proxyEnv && { proxyEnv }) };
    return new NodeHttpHandler({
      connectionTimeout,
      httpAgent: lookingAgent(agent),
      httpsAgent: lookingTlsAgent(agent),
    });
  };
  return new ProxiedHandler({ proxyFor, handlerVia, onRoute });
}

/** Errors by which Node.js and the SDK say that a request never left. */
const notSent: ReadonlySet<unknown> = new Set([
  ...untrustedCertificate,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CredentialsProviderError',
  'TokenProviderError',
  'ProxyError',
]);

interface SdkError {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly $fault?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $response?: { readonly headers?: Readonly<Record<string, string | undefined>> };
}

/** What the SDK threw, as the rest of Headwater knows failures. Exported for its table test alone. */
export function callErrorOf(error: unknown): Ec2CallError {
  const { name, message, code, $fault, $metadata = {}, $response } = (error ?? {}) as SdkError;
  const answered = $fault !== undefined && typeof name === 'string' && name !== 'Unknown';
  const told = {
    message: typeof message === 'string' ? message : String(error),
    code: answered ? name : ([code, name].find((item) => typeof item === 'string') ?? 'Error'),
    status: $metadata.httpStatusCode,
    requestId: $metadata.requestId,
    retryAfter: secondsIn($response?.headers?.['retry-after']),
  };
  return new Ec2CallError({ ...told, result: resultOf(answered, told) }, { cause: error });
}

/** In ms. */
function secondsIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Math.min(Number(header), 300) * 1000 : undefined;
}

function resultOf(
  answered: boolean,
  {
    code,
    message,
    status,
  }: { readonly code: string; readonly message: string; readonly status: number | undefined },
): Ec2CallResult {
  // A 5xx other than a throttle may come from behind the point where the change was made.
  if (answered) return (status ?? 500) < 500 || code === 'RequestLimitExceeded' ? 'refused' : 'noAnswer';
  const early = notSent.has(code) || /did not establish a connection|Region is missing/.test(message);
  return early ? 'notSent' : 'noAnswer';
}
