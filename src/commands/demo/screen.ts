// Where the demonstration is shown: redrawn in place on a terminal, line by line everywhere else.
import { type Frame, frameLines, plainLine, plainNews, subnetsLine } from './frame.ts';

export interface Screen {
  /** Something to keep: stays where it is written. */
  say(text: string): void;
  /** Another chapter begins; `look` says what to look at. */
  turn(title: string, look: readonly string[]): void;
  /** What happens in the chapter. */
  tell(text: string): void;
  show(moment: ShownMoment): void;
  /** A decision of the controller, in words. */
  decide(text: string): void;
  /** Leaves the terminal as it should be. */
  close(): void;
}

/** A frame without what the screen itself remembers. */
export type ShownMoment = Pick<Frame, 'elapsed' | 'chapter' | 'picture'>;

export interface Terminal {
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly rows: number;
}

/** Decisions that a screen shows at a time, as far as it has room. */
const mostDecisions = 8;
/** Between two lines about the subnets, in s. */
const subnetsInterval = 10;
/** Between two lines that say the same, in s. */
const idleInterval = 5;

export function liveScreen(terminal: Terminal): Screen {
  let drawn = 0;
  const decisions: string[] = [];
  const told: string[] = [];
  let notes: string[] = [];
  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`);
  return {
    say: (text) => {
      terminal.write(`${erase()}${text}\n`);
      drawn = 0;
    },
    // What stands above a screen that is full cannot be seen: it is part of the frame, and kept for the end.
    turn: (title, look) => {
      told.push('', title, ...look);
      notes = [...look];
    },
    tell: (text) => {
      told.push(text);
      notes.push(text);
    },
    show: (moment) => {
      // The cursor stands below the last line: a full screen would scroll, and what scrolled cannot be redrawn.
      const lines = frameLines(
        { ...moment, notes, decisions },
        { columns: terminal.columns, rows: terminal.rows - 1 },
      );
      terminal.write(`${erase()}${lines.join('\n')}\n`);
      drawn = lines.length;
    },
    decide: (text) => {
      decisions.push(text);
      if (decisions.length > mostDecisions) decisions.shift();
    },
    close: () => {
      terminal.write(
        `${erase()}${told
          .splice(0)
          .map((line) => `${line}\n`)
          .join('')}`,
      );
      drawn = 0;
    },
  };
}

/**
 * Frames are shown every second at most, and every few seconds while nothing changes; decisions in a burst are counted
 * instead of listed.
 */
export function plainScreen(terminal: Terminal): Screen {
  let shownAt = -Infinity;
  let shown = '';
  let subnetsAt = 0;
  let held: string[] = [];
  const flush = (): void => {
    const [first, second, ...more] = held;
    for (const text of [first, second]) if (text !== undefined) terminal.write(`       ${text}\n`);
    if (more.length > 0) terminal.write(`       and ${more.length} more decisions\n`);
    held = [];
  };
  const say = (text: string): void => {
    flush();
    terminal.write(`${text}\n`);
  };
  return {
    say,
    turn: (title, look) => ['', title, ...look].forEach(say),
    tell: say,
    show: (frame) => {
      const news = plainNews(frame);
      if (frame.elapsed - shownAt < (news === shown ? idleInterval : 1)) return;
      shownAt = frame.elapsed;
      shown = news;
      flush();
      terminal.write(`${plainLine(frame)}\n`);
      if (frame.elapsed - subnetsAt < subnetsInterval) return;
      subnetsAt = frame.elapsed;
      terminal.write(`       ${subnetsLine(frame)}\n`);
    },
    decide: (text) => {
      held.push(text);
    },
    close: flush,
  };
}
