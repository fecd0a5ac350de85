// The versions of ARM's API that a cloud has. Newer ones come to the clouds of governments and of China months later. A
// refusal of a version lists those that exist: from then on, the newest of them is used, if it is new enough.
import { CallError, type Sending } from '../gate/cloud-call.ts';
import type { ArmAnswer, ArmApi, ArmRequest } from './arm-api.ts';

/** Older ones lack parts of the models that Headwater writes back. */
const oldest = '2024-07-01';

const refusals: ReadonlySet<string> = new Set([
  'NoRegisteredProviderFound',
  'InvalidApiVersionParameter',
  'InvalidResourceType',
]);

/** The newest of the versions that a refusal lists, previews left out; undefined if none is new enough. */
export function versionInstead({ code, message, result }: CallError): string | undefined {
  if (result !== 'refused' || !refusals.has(code)) return undefined;
  const listed = /supported (?:api-)?versions are '([^']*)'/i.exec(message)?.[1] ?? '';
  const versions = listed.split(',').map((each) => each.trim());
  return versions
    .filter((each) => /^20\d\d-\d\d-\d\d$/.test(each) && each >= oldest)
    .toSorted()
    .at(-1);
}

/** Sends each request in a version that the cloud has. */
export class VersionedApi implements ArmApi {
  readonly #api: ArmApi;
  /** By what was refused: the provider, and the version. */
  readonly #instead = new Map<string, string>();

  constructor(api: ArmApi) {
    this.#api = api;
  }

  async send(request: ArmRequest, given: Sending): Promise<ArmAnswer> {
    const sending = countedOnce(given);
    const key = `${request.provider} ${versionIn(request)}`;
    const known = this.#instead.get(key);
    try {
      return await this.#api.send(known === undefined ? request : inVersion(request, known), sending);
    } catch (error) {
      const version = error instanceof CallError ? versionInstead(error) : undefined;
      if (version === undefined || version === known || version === versionIn(request)) throw error;
      this.#instead.set(key, version);
      // A refused request had no effect.
      return this.#api.send(inVersion(request, version), sending);
    }
  }
}

/** Both attempts are one call. */
function countedOnce({ onSend, ...sending }: Sending): Sending {
  let isSent = false;
  const once = (): void => {
    if (!isSent) onSend();
    isSent = true;
  };
  return { ...sending, onSend: once };
}

function versionIn({ url }: ArmRequest): string {
  return /[?&]api-version=([^&]*)/.exec(url)?.[1] ?? '';
}

function inVersion(request: ArmRequest, version: string): ArmRequest {
  return { ...request, url: request.url.replace(/([?&]api-version=)[^&]*/, `$1${version}`) };
}
