// Opaque page tokens. Only this cloud can issue one, and it is valid only for the same request.
import { createHmac } from 'node:crypto';

export class PageTokens {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** The token for the items after `cursor` in the listing of `request`. */
  issue(request: string, cursor: string): string {
    const body = Buffer.from(cursor).toString('base64url');
    return `${body}.${this.#seal(request, cursor)}`;
  }

  /** The cursor of a token; undefined for one of another listing. */
  read(request: string, token: string): string | undefined {
    const [body = '', seal] = token.split('.');
    const cursor = Buffer.from(body, 'base64url').toString();
    return seal === this.#seal(request, cursor) ? cursor : undefined;
  }

  #seal(request: string, cursor: string): string {
    return createHmac('sha256', this.#secret)
      .update(`${request}\n${cursor}`)
      .digest('base64url')
      .slice(0, 22);
  }
}
