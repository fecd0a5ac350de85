// Etags: a writer that names the one it read is refused if the resource has changed since.
import { ArmRefusal } from './arm-refusal.ts';

/** Refuses a stale `If-Match`. */
export function refuseEtag(
  { path, etag }: { readonly path: string; readonly etag: string },
  ifMatch: string | undefined,
): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === etag) return;
  throw new ArmRefusal(
    'PreconditionFailed',
    `Precondition failed. Etag provided in if-match header ${ifMatch} does not match etag ${etag} of resource ${path}.`,
    412,
  );
}

/** Refuses any `If-Match` for what does not exist (RFC 9110, section 13.1.1). */
export function refuseMatch(path: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return;
  throw new ArmRefusal(
    'PreconditionFailed',
    `Precondition failed. Etag provided in if-match header ${ifMatch}, and resource ${path} does not exist.`,
    412,
  );
}
