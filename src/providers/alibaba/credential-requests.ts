// The requests by which the vendor's providers get credentials: of the token service, and of the metadata service.
import { textAt } from '../../runtime/json.ts';
import { boundedText, jsonIn } from '../../network/bounded-body.ts';
import { HttpSender, type HttpSenderOptions, type IncomingAnswer } from '../../network/http-sender.ts';
import type { Clock } from '../../runtime/clock.ts';
import { CallError, callErrorOf } from '../gate/cloud-call.ts';

/** A request as a provider of the vendor's makes it. Times are in ms. */
export interface CredentialRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyForm: Readonly<Record<string, string>> | undefined;
  readonly connectTimeout: number;
  readonly readTimeout: number;
  toRequestURL(): string;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingAnswer['headers'];
  readonly body: Buffer;
}

/** Where the vendor's providers look for the metadata service. */
const usualMetadataHost = '100.100.100.200';
/** In bytes. */
const maxAnswerBytes = 2 ** 16;

export class CredentialRequests {
  /** URL of the metadata service, without a slash at its end. */
  readonly #base: string;
  readonly #sender: HttpSender;
  readonly #clock: Clock;

  /** `metadataEndpoint`: the URL of the metadata service, which is reached without any proxy. */
  constructor(metadataEndpoint: string, options: HttpSenderOptions) {
    const metadata = new URL(metadataEndpoint);
    this.#base = metadata.href.replace(/\/$/, '');
    this.#clock = options.clock;
    this.#sender = new HttpSender({
      ...options,
      proxyFor: (target) => (target.hostname === metadata.hostname ? undefined : options.proxyFor(target)),
    });
  }

  /** Rejects with a CallError. */
  async send(request: CredentialRequest): Promise<Answer> {
    const asked = new URL(request.toRequestURL());
    const isMetadata = asked.hostname === usualMetadataHost;
    const url = isMetadata ? new URL(`${this.#base}${asked.pathname}`) : asked;
    const answer = await this.#answer(request, url).catch((error: unknown) => {
      throw unreachable(url, error);
    });
    // The credential providers interpret refusals of the metadata service themselves.
    if (!isMetadata && answer.statusCode !== 200) throw refused(url, answer);
    return answer;
  }

  close(): void {
    this.#sender.close();
  }

  async #answer({ method, headers, bodyForm, ...request }: CredentialRequest, url: URL): Promise<Answer> {
    const within = new AbortController();
    const cancel = this.#clock.schedule(request.connectTimeout + request.readTimeout, () =>
      within.abort(new Error('it does not answer in time')),
    );
    const body = new URLSearchParams(bodyForm ?? {}).toString();
    const { signal } = within;
    try {
      const answer = await this.#sender.send({ url, method, headers: { ...headers }, body, signal });
      const text = await boundedText(answer.body, { max: maxAnswerBytes, clock: this.#clock });
      return { statusCode: answer.statusCode, headers: answer.headers, body: Buffer.from(text) };
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      cancel();
    }
  }
}

function unreachable({ host }: URL, error: unknown): CallError {
  const { code, message } = callErrorOf(error, false);
  return new CallError(
    { result: 'notSent', code, message: `cannot get credentials from ${host}: ${message}` },
    { cause: error },
  );
}

/** The request for which the credentials are wanted never leaves. */
function refused({ host }: URL, { statusCode, body }: Answer): CallError {
  const shown = jsonIn(body.toString('utf8'));
  const [code, message] = [textAt(shown, 'Code') ?? '', textAt(shown, 'Message') ?? ''];
  const isOurs = statusCode >= 400 && statusCode < 500 && !code.startsWith('Throttling');
  const ours = code.includes('Expired') ? 'CredentialsExpired' : 'CredentialsError';
  return new CallError({
    result: 'notSent',
    code: isOurs ? ours : 'TokenServiceUnavailable',
    message: `${host} answers ${[statusCode, code, message].filter((part) => part !== '').join(' ')}`,
  });
}
