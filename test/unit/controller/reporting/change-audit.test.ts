import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ChangeAudit } from '../../../../src/controller/reporting/change-audit.ts';
import { createMetricRegistry } from '../../../../src/observability/metrics.ts';
import { changeReasons } from '../../../../src/providers/contract/change-purpose.ts';
import type { CallContext } from '../../../../src/providers/contract/cloud.ts';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import type { ReleaseIPs } from '../../../../src/providers/contract/operations.ts';
import type { Priority } from '../../../../src/providers/contract/priority.ts';
import type { CloudCall } from '../../../../src/providers/gate/cloud-call.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const release: ReleaseIPs = {
  kind: 'releaseIPs',
  instanceId: 'i-1',
  interfaceId: 'eni-1',
  addresses: ['10.0.0.1'],
};
const context: CallContext = {
  caller: { priority: 'release' },
  signal: new AbortController().signal,
  node: { name: 'one', instanceId: 'i-1' },
  change: { operation: release, priority: 'release' },
};
const call: CloudCall = {
  name: 'Unassign',
  effect: 'takesAway',
  limits: [{ name: 'Unassign' }, { name: 'writes', resource: 'account' }],
};
const failure: CloudFailure = {
  kind: 'notAuthorized',
  action: 'Unassign',
  code: 'Denied',
  message: 'user secret-name may not',
  requestId: 'r-1',
};

function rig(): {
  readonly audit: ChangeAudit;
  readonly lines: unknown[];
  readonly scrape: () => Promise<string>;
  readonly logged: ReturnType<typeof recordingLogger>['lines'];
  readonly disk: { isFull: boolean };
} {
  const lines: unknown[] = [];
  const disk = { isFull: false };
  const log = recordingLogger();
  const { metrics, scrape } = createMetricRegistry({ measureProcess: false });
  const append = (line: string): void => {
    if (disk.isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    lines.push(JSON.parse(line));
  };
  const author = { cluster: 'c', leader: 'l' };
  const audit = new ChangeAudit({ append }, author, { clock: new VirtualClock(), log, metrics });
  return { audit, lines, scrape, logged: log.lines, disk };
}

describe('the audit of changes', () => {
  test('has its reasons in its page', () => {
    const page = readFileSync(new URL('../../../../docs/audit.md', import.meta.url), 'utf8');

    const rows = Object.entries(changeReasons).map(([why, words]) => `| \`${why}\` | ${words} |`);
    expect(page.split('\n').filter((line) => rows.includes(line))).toEqual(rows);
  });

  test('says who changed what, for which node and why, and what it took', () => {
    const { audit, lines } = rig();

    audit.changed({ call, context, end: { kind: 'failed', failure } });

    expect(lines).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        cluster: 'c',
        leader: 'l',
        audit: 'change',
        change: 1,
        action: 'Unassign',
        operation: 'releaseIPs',
        why: 'release',
        node: 'one',
        instance: 'i-1',
        subjects: [{ interface: 'eni-1', addresses: ['10.0.0.1'] }],
        tokens: { Unassign: 1, writes: 1 },
        result: 'refused',
        kind: 'notAuthorized',
        code: 'Denied',
        requestId: 'r-1',
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret-name');
  });

  test('tells how a change ends that was accepted or unclear, once, and under its number', () => {
    const { audit, lines } = rig();
    const done = { context, end: { kind: 'done', addresses: [] } } as const;

    audit.changed({ call, context, end: 'accepted', requestId: 'r'.repeat(5000) });
    audit.changed(done);
    audit.changed(done);
    audit.changed({ call, context, end: { kind: 'ambiguous', failure } });
    audit.changed(done);
    audit.changed({ call, context, end: { kind: 'failed', failure } });
    audit.changed(done);

    expect(lines).toMatchObject([
      { audit: 'change', change: 1, result: 'accepted', requestId: 'r'.repeat(200) },
      { audit: 'end', change: 1, action: 'Unassign', result: 'ok' },
      { audit: 'change', change: 2, result: 'unclear', code: 'Denied' },
      { audit: 'end', change: 2, result: 'ok' },
      { audit: 'change', change: 3, result: 'refused' },
    ]);
  });

  test('tells at the end what the change was made for, though the node needs something else by then', () => {
    const { audit, lines } = rig();
    const operation = { kind: 'allocateIPs', instanceId: 'i-1', interfaceId: 'eni-1', count: 1 } as const;
    const caller: { priority: Priority } = { priority: 'normal' };
    const growing = { ...context, caller, change: { operation, priority: caller.priority } };

    caller.priority = 'critical';
    audit.changed({ call, context: growing, end: 'accepted' });
    audit.changed({ context: growing, end: { kind: 'done', addresses: ['10.0.0.2'] } });

    expect(lines).toMatchObject([{ why: 'watermark' }, { why: 'watermark' }]);
  });

  test('says once that its lines are lost, counts them, and says once that they are written again', async () => {
    const { audit, lines, logged, scrape, disk } = rig();
    const change = { call, context, end: { kind: 'failed', failure } } as const;

    disk.isFull = true;
    audit.changed(change);
    audit.changed(change);
    disk.isFull = false;
    audit.changed(change);
    audit.changed(change);

    expect(lines).toMatchObject([{ change: 3 }, { change: 4 }]);
    expect(logged.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'cannot write to the audit: changes go on, and their lines are lost'],
      ['info', 'writes to the audit again'],
    ]);
    expect(logged[1]?.details).toMatchObject({ lost: 2 });
    expect(await scrape()).toMatch(/headwater_audit_lines_total\{outcome="lost"\} 2\n/);
  });
});
