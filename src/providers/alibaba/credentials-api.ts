// The only file that imports the vendor's providers of credentials. What they ask of the token service and of the metadata service goes over
// our own connections, so it passes our proxies and has our limits.
import CliProfile from '@alicloud/credentials/dist/src/providers/cli_profile.js';
import InstanceRole from '@alicloud/credentials/dist/src/providers/ecs_ram_role.js';
import EnvironmentKeys from '@alicloud/credentials/dist/src/providers/env.js';
import OidcRole from '@alicloud/credentials/dist/src/providers/oidc_role_arn.js';
import Profile from '@alicloud/credentials/dist/src/providers/profile.js';
import Uri from '@alicloud/credentials/dist/src/providers/uri.js';
import type { HttpSenderOptions } from '../../network/http-sender.ts';
import { CallError, messageOf } from '../gate/cloud-call.ts';
import { CredentialRequests } from './credential-requests.ts';

export interface Keys {
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  /** Empty for keys that do not expire. */
  readonly securityToken: string;
}

export interface CredentialChainOptions {
  readonly http: HttpSenderOptions;
  /** URL of the metadata service, which is reached without any proxy. */
  readonly metadataEndpoint: string;
  /** The same that the vendor's providers read. */
  readonly environment: NodeJS.ProcessEnv;
  /** The region whose token service is asked, within the VPC; undefined: as the vendor's providers choose. */
  readonly stsRegion?: string;
}

/** A provider of the vendor's, as far as it is used here. */
interface Provider {
  getCredentials(): Promise<Partial<Keys> | undefined>;
}

interface Source {
  readonly name: string;
  /** Throws if it is not configured. */
  readonly make: () => Provider;
}

const environmentKeys: Source = {
  name: 'environment variables',
  make: () => EnvironmentKeys.default.builder().build(),
};
/** The environment of the vendor's providers comes first. */
const oidcRole = ({ environment, stsRegion }: CredentialChainOptions): Source => ({
  name: 'RRSA',
  make: () => {
    const builder = OidcRole.default.builder();
    const isChosen = (environment['ALIBABA_CLOUD_STS_REGION'] ?? '') !== '';
    if (stsRegion === undefined || isChosen) return builder.build();
    return builder.withStsRegionId(stsRegion).withEnableVpc(true).build();
  },
});
const fromUri: Source = {
  name: 'ALIBABA_CLOUD_CREDENTIALS_URI',
  make: () => new Uri.URICredentialsProviderBuilder().build(),
};

/** Each is asked if those before it have none. */
const shared: readonly Source[] = [
  { name: "a profile of the vendor's CLI", make: () => CliProfile.default.builder().build() },
  { name: 'a profile', make: () => Profile.default.builder().build() },
  { name: 'the RAM role of the instance', make: () => InstanceRole.default.builder().build() },
];

export class CredentialChain {
  readonly #sources: readonly Source[];
  readonly #requests: CredentialRequests;
  /** The provider that had credentials. It renews them. */
  #found: Provider | undefined;
  /** All that wait share one search. */
  #asking: Promise<Keys> | undefined;

  constructor(options: CredentialChainOptions) {
    this.#sources = sourcesIn(options);
    this.#requests = new CredentialRequests(options.metadataEndpoint, options.http);
  }

  /** Rejects with a CallError. It cannot be cancelled. */
  keys(): Promise<Keys> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** The cloud refuses what there is: keys are searched for anew, and no session is continued. */
  renew(): Promise<Keys> {
    this.#found = undefined;
    return this.keys();
  }

  close(): void {
    this.#requests.close();
  }

  async #ask(): Promise<Keys> {
    if (this.#found === undefined) return this.#search();
    try {
      return await keysOf(this.#found);
    } catch (error) {
      this.#found = undefined;
      throw credentialsError(error);
    }
  }

  async #search(): Promise<Keys> {
    const problems: string[] = [];
    for (const { name, make } of this.#sources) {
      try {
        const provider = this.#through(make());
        const keys = await keysOf(provider);
        this.#found = provider;
        return keys;
      } catch (error) {
        const failure = credentialsError(error);
        if (this.#sources.length === 1) throw failure;
        problems.push(`${name}: ${failure.message}`);
      }
    }
    throw credentialsError(new Error(`nothing has credentials. ${problems.join('. ')}`));
  }

  /** Makes its requests ours, and those of the providers that it makes itself from a profile. */
  #through<P extends Provider>(provider: P): P {
    const open: P & {
      doRequest?: CredentialRequests['send'];
      getCredentialsProvider?: (...given: readonly unknown[]) => Provider;
    } = provider;
    if (open.doRequest !== undefined) open.doRequest = (request) => this.#requests.send(request);
    const make = open.getCredentialsProvider?.bind(provider);
    if (make !== undefined) open.getCredentialsProvider = (...given) => this.#through(make(...given));
    return provider;
  }
}

/**
 * The sources of keys. One that is configured for this process alone decides: if it fails, nothing falls back to the role of
 * the instance, which all its pods share.
 */
function sourcesIn(options: CredentialChainOptions): readonly Source[] {
  const { environment } = options;
  const isSet = (name: string): boolean => (environment[`ALIBABA_CLOUD_${name}`] ?? '') !== '';
  if (isSet('ACCESS_KEY_ID')) return [environmentKeys];
  if (isSet('ROLE_ARN') && isSet('OIDC_PROVIDER_ARN') && isSet('OIDC_TOKEN_FILE')) return [oidcRole(options)];
  return isSet('CREDENTIALS_URI') ? [...shared, fromUri] : shared;
}

async function keysOf(provider: Provider): Promise<Keys> {
  const {
    accessKeyId = '',
    accessKeySecret = '',
    securityToken = '',
  } = (await provider.getCredentials()) ?? {};
  refuseOddities('the id of the AccessKey', accessKeyId);
  refuseOddities('the secret of the AccessKey', accessKeySecret);
  refuseOddities('the security token', securityToken);
  return { accessKeyId, accessKeySecret, securityToken };
}

/** A key that was copied with its line break is another key to the cloud. Other than plain text fits into no header. */
function refuseOddities(name: string, part: string): void {
  if (/\s/.test(part)) throw new Error(`${name} has a space or a line break in it`);
  if (/[^\x21-\x7e]/.test(part)) throw new Error(`${name} has a character in it that is not plain ASCII`);
}

/** No request leaves without credentials. */
function credentialsError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  const message = messageOf(error).replace(/\s+/g, ' ').trim();
  return new CallError({ result: 'notSent', code: 'CredentialsError', message }, { cause: error });
}
