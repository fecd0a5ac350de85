// Rules that bind several options to each other. Pure; each option by itself has been accepted before.
import { formatDuration } from './go-duration.ts';
import { type OptionSources, refusalLine, sourceInWords } from './option-source.ts';
import { type OptionName, type Options, propertyOf } from './option-table.ts';

/** Room for jitter, as client-go has it: k8s.io/client-go/tools/leaderelection requires the same of its callers. */
const jitterFactor = 1.2;

type Timing = Extract<
  OptionName,
  'leader-election-lease-duration' | 'leader-election-renew-deadline' | 'leader-election-retry-period'
>;

interface Bound {
  readonly name: Timing;
  /** What `name` must stay below once multiplied. */
  readonly limit: Timing;
  readonly factor: number;
}

/** A leader must notice that it cannot renew before another may take over, and must have tried more than once. */
const bounds: readonly Bound[] = [
  { name: 'leader-election-renew-deadline', limit: 'leader-election-lease-duration', factor: 1 },
  { name: 'leader-election-retry-period', limit: 'leader-election-renew-deadline', factor: jitterFactor },
];

/** One line for each rule that the options break. */
export function findContradictions(options: Options, sources: OptionSources): readonly string[] {
  const valueOf = (name: Timing): number => options[propertyOf(name)] as number;

  return bounds
    .filter(({ name, limit, factor }) => valueOf(name) * factor >= valueOf(limit))
    .map(({ name, limit, factor }) => {
      const less = factor === 1 ? 'less than' : `a duration that multiplied by ${factor} is less than`;
      const other = `${limit}, which is ${formatDuration(valueOf(limit))} (${sourceInWords(limit, sources[limit])})`;
      const text = formatDuration(valueOf(name));
      return refusalLine({ name, source: sources[name], text, accepted: `${less} ${other}` });
    });
}
