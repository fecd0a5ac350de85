// How long a server asks to be left alone: RFC 9110, section 10.2.3.

/**
 * The wait that a Retry-After header asks for, in ms: seconds, or a date that is compared with `wall`. Undefined when
 * there is no header, or none that means anything.
 */
export function retryAfter(header: string | undefined, wall: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Za-z]/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wall);
}
