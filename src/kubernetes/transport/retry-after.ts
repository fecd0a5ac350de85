// Reads the Retry-After header: RFC 9110, section 10.2.3.

/**
 * The requested wait in ms, from seconds or from a date relative to `wall`. Undefined when the header is absent or
 * meaningless.
 */
export function retryAfter(header: string | undefined, wall: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Za-z]/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wall);
}
