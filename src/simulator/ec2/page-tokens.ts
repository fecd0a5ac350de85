// Opaque tokens that say where the next page of a listing begins. Only this cloud can make one, and it fits only the
// request that it was made for.
import { createHmac } from 'node:crypto';
import { invalidParameterValue } from './ec2-refusal.ts';

export class PageTokens {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** The token for what follows `cursor` in the listing that `request` stands for. */
  issue(request: string, cursor: string): string {
    const body = Buffer.from(cursor).toString('base64url');
    return `${body}.${this.#seal(request, cursor)}`;
  }

  /** The cursor of a token; refuses one of another listing. */
  read(request: string, token: string): string {
    const [body = '', seal] = token.split('.');
    const cursor = Buffer.from(body, 'base64url').toString();
    if (seal !== this.#seal(request, cursor)) throw invalidParameterValue('Unable to parse pagination token');
    return cursor;
  }

  #seal(request: string, cursor: string): string {
    return createHmac('sha256', this.#secret)
      .update(`${request}\n${cursor}`)
      .digest('base64url')
      .slice(0, 22);
  }
}
