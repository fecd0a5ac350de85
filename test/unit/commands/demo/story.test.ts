import { describe, expect, test } from '@jest/globals';
import type { Chapter, Progress } from '../../../../src/commands/demo/chapter.ts';
import type { Picture } from '../../../../src/commands/demo/picture.ts';
import { Story } from '../../../../src/commands/demo/story.ts';

const picture: Picture = {
  nodes: { total: 1, serving: 1, met: 1 },
  addresses: { held: 0, used: 0, excess: 0 },
  departures: { marked: 0, ready: 0, released: 0, refused: 0, hidden: 0, givenBack: 0 },
  pods: { served: 0, waiting: 0, longestWait: 0 },
  interfaces: { attached: 1, loose: 0 },
  subnets: [],
  calls: [],
  violations: [],
};

/** Two chapters; the progress of the first can be set. Checks are a second apart. */
function story(longest = 60_000) {
  const log: string[] = [];
  const state: { progress: Progress } = { progress: 'underway' };
  const chapter = (title: string, progress: () => Progress): Chapter => ({
    title,
    look: ['look there'],
    longest,
    begin: () => void log.push(`${title} begins`),
    watch: ({ elapsed }) => {
      log.push(`${title} at ${elapsed / 1000}`);
      return progress();
    },
    hear: ({ message }) => void log.push(`${title} hears ${message}`),
  });
  const told = new Story([chapter('a', () => state.progress), chapter('b', () => 'over')], {
    turn: (title, look) => void log.push(title, ...look),
  });
  let now = 0;
  const look = (): readonly string[] => {
    now += 1000;
    told.look(picture, now);
    return log.splice(0);
  };
  return { told, look, log, state };
}

describe('a story', () => {
  test('starts with the first chapter, and says what to watch', () => {
    const { told, look } = story();

    expect(look()).toEqual(['== 1. a', '   look there', 'a begins']);
    expect(told.title).toBe('a');
    expect(told.missing).toEqual(['a', 'b']);
  });

  test.each<{ progress: Progress; later: string[]; missing: string[] }>([
    { progress: 'underway', later: ['a at 2'], missing: ['a', 'b'] },
    { progress: 'continues', later: ['a at 2', 'b at 1'], missing: ['a'] },
    { progress: 'over', later: ['b at 1'], missing: [] },
  ])('continues as it should after a chapter that is $progress', ({ progress, later, missing }) => {
    const { told, look, state } = story();
    look();
    state.progress = progress;

    const turned = look();
    const after = look();

    expect(turned).toEqual([
      'a at 1',
      ...(progress === 'underway' ? [] : ['== 2. b', '   look there', 'b begins']),
    ]);
    expect(after).toEqual(later);
    expect(told.missing).toEqual(missing);
  });

  test('continues after a chapter that takes too long, and records that it did not end', () => {
    const { told, look } = story(1500);
    look();
    look();

    expect(look()).toEqual(['a at 2', '== 2. b', '   look there', 'b begins']);
    look();
    expect(told.missing).toEqual(['a']);
  });

  test('passes log lines of the controller to every chapter that has started', () => {
    const { told, look, log, state } = story();
    look();
    told.hear({ level: 'info', message: 'leading', details: {} });
    state.progress = 'over';
    look();
    log.length = 0;
    told.hear({ level: 'info', message: 'more', details: {} });

    expect(log).toEqual(['a hears more', 'b hears more']);
  });
});
