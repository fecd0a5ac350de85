// The audit of changes, read back as its readers do.
import { ChangeAudit } from '../../src/controller/reporting/change-audit.ts';
import type { Metrics } from '../../src/observability/metrics.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { recordingLogger } from './recording-logger.ts';

export interface AuditLine {
  readonly audit: 'change' | 'end';
  readonly change: number;
  readonly time: string;
  readonly cluster: string;
  readonly leader: string;
  readonly action: string;
  readonly operation: string;
  readonly why: string;
  readonly node?: string;
  readonly instance?: string;
  readonly subjects: readonly {
    readonly interface?: string;
    readonly addresses?: readonly string[];
    readonly prefixes?: readonly string[];
  }[];
  readonly tokens?: Readonly<Record<string, number>>;
  readonly result: 'ok' | 'accepted' | 'refused' | 'unclear';
  readonly kind?: string;
  readonly code?: string;
  readonly requestId?: string;
}

export function auditInto(
  lines: AuditLine[],
  { clock, metrics, leader = 'headwater-0' }: AuditedWorld,
): ChangeAudit {
  const append = (line: string): void => void lines.push(JSON.parse(line) as AuditLine);
  return new ChangeAudit({ append }, { cluster: 'test', leader }, { clock, metrics, log: recordingLogger() });
}

interface AuditedWorld {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly leader?: string;
}
