import { describe, expect, test } from '@jest/globals';
import type { Chapter, Progress } from '../../../../src/commands/demo/chapter.ts';
import type { Picture } from '../../../../src/commands/demo/picture.ts';
import { Story } from '../../../../src/commands/demo/story.ts';

const picture: Picture = {
  cloud: 'EC2',
  nodes: { total: 1, serving: 1, met: 1 },
  dualStack: { asking: 0, met: 0 },
  addresses: { held: 0, used: 0, excess: 0 },
  departures: { marked: 0, ready: 0, released: 0, refused: 0, hidden: 0, unassigned: 0 },
  pods: { served: 0, waiting: 0, maxWait: 0 },
  interfaces: { attached: 1, detached: 0 },
  subnets: [],
  calls: [],
  violations: [],
};

/** Two chapters; the test sets the progress of the first. Checks are a second apart. */
function story() {
  const log: string[] = [];
  const state: { progress: Progress } = { progress: 'running' };
  const chapter = (title: string, progress: () => Progress): Chapter => ({
    title,
    hints: ['look there'],
    beginChapter: () => void log.push(`${title} begins`),
    watch: ({ elapsed }) => {
      log.push(`${title} at ${elapsed / 1000}`);
      return progress();
    },
    onLogLine: ({ message }) => void log.push(`${title} hears ${message}`),
  });
  const chapters = new Story([chapter('a', () => state.progress), chapter('b', () => 'over')], {
    turn: (title, hints) => void log.push(title, ...hints),
  });
  let now = 0;
  const update = (seconds = 1, change: Partial<Picture> = {}): readonly string[] => {
    now += seconds * 1000;
    chapters.update({ ...picture, ...change }, now);
    return log.splice(0);
  };
  return { chapters, update, log, state };
}

describe('a story', () => {
  test('starts with the first chapter, and says what to watch', () => {
    const { chapters, update } = story();

    expect(update()).toEqual(['== 1. a', '   look there', 'a begins']);
    expect(chapters.title).toBe('a');
    expect(chapters.missing).toEqual(['a', 'b']);
  });

  test.each<{ progress: Progress; later: string[]; missing: string[] }>([
    { progress: 'running', later: ['a at 2'], missing: ['a', 'b'] },
    { progress: 'continues', later: ['a at 2', 'b at 1'], missing: ['a'] },
    { progress: 'over', later: ['b at 1'], missing: [] },
  ])('continues as it should after a chapter that is $progress', ({ progress, later, missing }) => {
    const { chapters, update, state } = story();
    update();
    state.progress = progress;

    const turned = update();
    const after = update();

    expect(turned).toEqual([
      'a at 1',
      ...(progress === 'running' ? [] : ['== 2. b', '   look there', 'b begins']),
    ]);
    expect(after).toEqual(later);
    expect(chapters.missing).toEqual(missing);
  });

  test('waits for a chapter as long as something changes', () => {
    const { chapters, update } = story();
    update();

    for (let waiting = 1; waiting < 100; waiting++) update(29, { pods: { served: 0, waiting, maxWait: 0 } });

    expect(chapters.title).toBe('a');
  });

  test('continues after a chapter that stands still, and records that it did not end', () => {
    const { chapters, update } = story();
    update();
    update(29);

    expect(update()).toEqual(['a at 30', '== 2. b', '   look there', 'b begins']);
    update();
    expect(chapters.missing).toEqual(['a']);
  });

  test('passes log lines of the controller to every chapter that has started', () => {
    const { chapters, update, log, state } = story();
    update();
    chapters.onLogLine({ level: 'info', message: 'leading', details: {} });
    state.progress = 'over';
    update();
    log.length = 0;
    chapters.onLogLine({ level: 'info', message: 'more', details: {} });

    expect(log).toEqual(['a hears more', 'b hears more']);
  });
});
