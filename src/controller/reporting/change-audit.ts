// Writes one line of JSON for each change that this process makes in a cloud: who, what, for which node, why, and what came
// of it. What cannot be written is counted and logged, and stops nothing. Lines hold no credentials and no message of a cloud.
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import {
  type Change,
  type ChangeSubject,
  purposeOf,
  subjectIn,
} from '../../providers/contract/change-purpose.ts';
import type { SettledChange } from '../../providers/gate/settled-change.ts';
import type { CallContext } from '../../providers/contract/cloud.ts';
import type { CloudCall } from '../../providers/gate/cloud-call.ts';
import type { Clock } from '../../runtime/clock.ts';

export interface AuditLines {
  /** Throws if the line is not written. */
  append(line: string): void;
}

/** Who makes the changes. */
export interface ChangeAuthor {
  readonly cluster: string;
  /** The holder name in the Lease. */
  readonly leader: string;
}

interface AuditedProcess {
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'headwater_audit_lines_total'>;
}

/** Calls whose line does not say how their change ends. */
type OpenChanges = WeakMap<Change, { readonly change: number; readonly action: string }>;

export class ChangeAudit {
  readonly #lines: AuditLines;
  #author: ChangeAuthor;
  readonly #process: AuditedProcess;
  readonly #open: OpenChanges = new WeakMap();
  /** Numbers the changes of this process, so that a missing line shows. */
  #count = 0;
  #lost = 0;

  constructor(lines: AuditLines, author: ChangeAuthor, process: AuditedProcess) {
    this.#lines = lines;
    this.#author = author;
    this.#process = process;
  }

  /** The cluster's name is known only now. Call it before anything changes. */
  belongsTo(cluster: string): void {
    this.#author = { ...this.#author, cluster };
  }

  /** A call that changes something has left the gate, or the change has ended that one before has begun. */
  changed(settled: SettledChange): void {
    const { call, context, end } = settled;
    if (call !== undefined) this.#sent(call, settled);
    else if (context.change !== undefined) this.#ended(context.change, context, end);
  }

  #sent(call: CloudCall, { context, end, requestId }: SettledChange): void {
    const change = ++this.#count;
    const isOpen = end === 'accepted' || end.kind === 'ambiguous';
    if (isOpen && context.change !== undefined) this.#open.set(context.change, { change, action: call.name });
    this.#append({
      audit: 'change',
      change,
      action: call.name,
      ...wordsOf(context, end),
      tokens: tokensOf(call),
      ...endWords(end),
      ...(requestId !== undefined && { requestId: requestId.slice(0, maxRequestId) }),
    });
  }

  #ended(change: Change, context: CallContext, end: SettledChange['end']): void {
    const open = this.#open.get(change);
    if (open === undefined) return;
    this.#open.delete(change);
    this.#append({ audit: 'end', ...open, ...wordsOf(context, end), ...endWords(end) });
  }

  #append(fields: object): void {
    const { clock, log, metrics } = this.#process;
    const time = new Date(clock.wall()).toISOString();
    try {
      this.#lines.append(JSON.stringify({ time, ...this.#author, ...fields }));
    } catch (error) {
      if (this.#lost++ === 0)
        log.error('cannot write to the audit: changes go on, and their lines are lost', { error });
      metrics.headwater_audit_lines_total.add({ outcome: 'lost' });
      return;
    }
    if (this.#lost > 0) log.info('writes to the audit again', { lost: this.#lost });
    this.#lost = 0;
    metrics.headwater_audit_lines_total.add({ outcome: 'written' });
  }
}

/** More is no request id. */
const maxRequestId = 200;

function wordsOf(context: CallContext, end: SettledChange['end']): object {
  if (context.change === undefined) return {};
  const { subjects, ...purpose } = purposeOf(context.change, context);
  return { ...purpose, subjects: subjectsAfter(subjects, end) };
}

function subjectsAfter(
  subjects: readonly ChangeSubject[],
  end: SettledChange['end'],
): readonly ChangeSubject[] {
  if (end === 'accepted' || end.kind !== 'done') return subjects;
  if ('answer' in end) {
    const shown = subjectIn(end.answer);
    return shown === undefined ? subjects : [shown];
  }
  const { addresses } = end;
  return addresses.length === 0 ? subjects : subjects.map((each) => ({ ...each, addresses }));
}

function endWords(end: SettledChange['end']): object {
  if (end === 'accepted') return { result: 'accepted' };
  if (end.kind === 'done') return { result: 'ok' };
  const { kind, code, requestId } = end.failure;
  return { result: end.kind === 'failed' ? 'refused' : 'unclear', kind, code, requestId };
}

/** A call takes one of each of its limits. */
function tokensOf({ limits }: CloudCall): Readonly<Record<string, number>> {
  return Object.fromEntries(limits.map(({ name }) => [name, 1]));
}
