// Parses and formats durations in Go's syntax, which Kubernetes operators know.

const unitInMs = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
} as const;

/**
 * Parses `10m`, `1m30s`, `0.5s`, `300ms` or `0` into ms; undefined otherwise. Negative durations are not accepted. The
 * grammar: https://pkg.go.dev/time#ParseDuration.
 */
export function parseGoDuration(text: string): number | undefined {
  if (text === '0') return 0;
  // Each digit can be matched in one way only: text without a unit is refused in linear time.
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(\D+)/g)) {
    ms += Number(amount) * unitInMs[unit as keyof typeof unitInMs];
  }
  return Math.round(ms * 1e6) / 1e6; // whole nanoseconds, as in Go
}

/** Formats ms in the shortest whole units, largest first: `90000` is `1m30s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  let text = '';
  let rest = ms;
  for (const unit of ['h', 'm', 's'] as const) {
    const whole = Math.floor(rest / unitInMs[unit]);
    if (whole > 0) text += `${whole}${unit}`;
    rest -= whole * unitInMs[unit];
  }
  return rest === 0 ? text : `${text}${rest}ms`;
}
