// The page of `/` as the build left it, with the policy that lets a browser run nothing but it.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

export interface StatusPage {
  /** One file: its style and its script are in it. */
  readonly html: string;
  /** As https://www.w3.org/TR/CSP3/ defines it. */
  readonly contentSecurityPolicy: string;
}

/** Resolves to undefined in a checkout without a build. Load this module lazily: beside the bundle, it stands where chunks do. */
export async function readStatusPage(): Promise<StatusPage | undefined> {
  const html = await readFile(new URL('../../dist/page.html', import.meta.url), 'utf8').catch(
    () => undefined,
  );
  return html === undefined ? undefined : { html, contentSecurityPolicy: policyOf(html) };
}

/** Nothing is loaded but answers of the same server, and nothing runs or paints but what the file has. */
export function policyOf(html: string): string {
  const sourcesOf = (tag: 'script' | 'style'): string =>
    Array.from(html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs')), ([, text = '']) => {
      const digest = createHash('sha256').update(text).digest('base64');
      return `'sha256-${digest}'`;
    }).join(' ');
  return [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src ${sourcesOf('script')}`,
    `style-src ${sourcesOf('style')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
