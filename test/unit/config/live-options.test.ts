import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { renameSync } from 'node:fs';
import {
  LiveOptions,
  type LiveValues,
  readLiveOptions,
  textsAtStart,
} from '../../../src/config/live-options.ts';
import { thisProcess } from '../../../src/config/process-environment.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type MountedConfig, mountedConfig } from '../../support/config-directory.ts';

let config: MountedConfig;

beforeEach(() => {
  config = mountedConfig();
});

afterEach(() => {
  config.remove();
});

interface Rig {
  readonly changes: LiveValues[];
  readonly problems: string[];
  readonly restartNeeded: () => readonly string[];
  readonly pass: (ms?: number) => Promise<void>;
}

function start(
  flags: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
): Rig {
  const given = new Map(
    Object.entries({ 'config-dir': config.path, ...flags }).map(([name, text]) => [name, [text]]),
  );
  const outside = { ...thisProcess, environment };
  const atStart = textsAtStart('run', given, outside);
  const read = (): ReturnType<typeof readLiveOptions> => readLiveOptions(given, outside, atStart);
  const { values } = read();
  const clock = new VirtualClock();
  const changes: LiveValues[] = [];
  const problems: string[] = [];
  const live = new LiveOptions({
    values: { dryRun: false, pause: [], allowWithdrawals: undefined, ...values },
    read,
    clock,
    onChange: (next) => changes.push(next),
    onProblem: (problem) => problems.push(problem),
  });
  void live.run(new AbortController().signal);
  return {
    changes,
    problems,
    restartNeeded: () => live.restartNeeded,
    pass: (ms = 10_000) => clock.advance(ms),
  };
}

describe('options that change in the directory', () => {
  test('take effect within 10 s, and each change is reported once', async () => {
    config.mount({});
    const { changes, pass } = start();

    config.mount({ pause: 'releases\n' });
    await pass();
    await pass(100_000);
    config.mount({ pause: 'mutations,releases', 'dry-run': 'true' });
    await pass();
    config.mount({ pause: '', 'cluster-name': 'prod' });
    await pass();

    expect(changes).toEqual([
      { dryRun: false, pause: ['releases'] },
      { dryRun: true, pause: ['releases', 'mutations'] },
      { dryRun: false, pause: [] },
    ]);
  });

  test('are all that does: another one that changes, comes or goes is named once, until it is as it was', async () => {
    config.mount({ ipam: 'eni', 'cluster-name': 'prod' });
    const { changes, problems, pass } = start();

    config.mount({ ipam: 'eni', 'cluster-name': 'prod', 'tunnel-protocol': 'vxlan' });
    await pass(60_000);
    expect(problems).toEqual([]);
    config.mount({ ipam: 'cluster-pool', 'eni-gc-interval': '1m' });
    await pass(60_000);
    config.mount({ ipam: 'eni', 'cluster-name': 'prod' });
    await pass(60_000);
    config.mount({ ipam: 'eni', 'cluster-name': 'a b' });
    await pass();

    const later = (name: string): string =>
      `${name}: it differs in ${config.path} from what it was at the start; restart every replica of Headwater to apply it, or put it back`;
    expect(problems).toEqual([
      later('ipam'),
      later('cluster-name'),
      later('eni-gc-interval'),
      expect.stringMatching(
        /restart every .* A restart ends with: cluster-name: .* is refused; accepted: 1 to 128/,
      ),
    ]);
    expect(changes).toEqual([]);
  });

  test('need a restart as long as another one differs, also while the directory cannot be read', async () => {
    config.mount({ ipam: 'eni', 'cluster-name': 'prod' });
    const { restartNeeded, pass } = start();
    const shown = [restartNeeded()];
    const away = `${config.path}-away`;

    config.mount({ ipam: 'cluster-pool', 'cluster-name': 'a b', pause: 'releases' });
    await pass();
    shown.push(restartNeeded());
    renameSync(config.path, away);
    await pass();
    shown.push(restartNeeded());
    renameSync(away, config.path);
    config.mount({ ipam: 'eni', 'cluster-name': 'prod' });
    await pass();
    shown.push(restartNeeded());

    const changed = ['ipam', 'cluster-name'];
    expect(shown.map((names) => names.toSorted())).toEqual([[], changed.toSorted(), changed.toSorted(), []]);
  });

  test('are named neither if a flag sets them, nor if their mode is another', async () => {
    config.mount({});
    const { problems, pass } = start({ 'cluster-name': 'prod' });

    config.mount({ 'cluster-name': 'other', 'cluster-pool-ipv4-cidr': '10.0.0.0/8' });
    await pass(60_000);

    expect(problems).toEqual([]);
  });

  test('include a token, and its removal', async () => {
    config.mount({});
    const { changes, problems, pass } = start();

    config.mount({ 'allow-withdrawals': '0123456789\n' });
    await pass();
    config.mount({ 'allow-withdrawals': 'all of them' });
    await pass();
    config.mount({});
    await pass();

    expect(changes.map(({ allowWithdrawals }) => allowWithdrawals)).toEqual(['0123456789', undefined]);
    expect(problems).toEqual([
      `allow-withdrawals: "all of them" from the file ${config.path}/allow-withdrawals is refused; accepted: the 10 hexadecimal digits at the end of a message WithdrawalsHeld`,
    ]);
  });

  test('keep their values while the directory has a value that is not accepted, which is reported once', async () => {
    config.mount({ pause: 'mutations' });
    const { changes, problems, pass } = start();

    config.mount({ pause: 'everything', 'dry-run': 'true' });
    await pass(60_000);
    config.mount({ pause: 'releases' });
    await pass();

    expect(problems).toEqual([
      `pause: "everything" from the file ${config.path}/pause is refused; accepted: releases, mutations, or several of them separated by commas or spaces`,
    ]);
    expect(changes).toEqual([
      { dryRun: true, pause: ['mutations'] },
      { dryRun: false, pause: ['releases'] },
    ]);
  });

  test('keep their values while the directory cannot be read', async () => {
    config.mount({ pause: 'mutations' });
    const { changes, problems, pass } = start();

    renameSync(config.path, `${config.path}-away`);
    await pass(60_000);
    renameSync(`${config.path}-away`, config.path);
    await pass(60_000);

    expect(problems).toEqual([
      expect.stringMatching(/^config-dir: .* is refused because it does not exist; accepted: /),
    ]);
    expect(changes).toEqual([]);
  });

  test('do not override a flag or the environment', async () => {
    config.mount({});
    const { changes, pass } = start({ pause: 'releases' }, { HEADWATER_DRY_RUN: 'false' });

    config.mount({ pause: 'mutations', 'dry-run': 'true' });
    await pass(60_000);

    expect(changes).toEqual([]);
  });

  test('are not read without a directory', async () => {
    const { changes, problems, pass } = start({ 'config-dir': '' });

    await pass(60_000);

    expect([changes, problems]).toEqual([[], []]);
  });
});
