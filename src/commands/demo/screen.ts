// Shows the demonstration: redrawn in place on a terminal, line by line elsewhere.
import { LiveFrame } from '../live-frame.ts';
import { type Frame, frameLines, plainLine, plainNews, subnetsLine } from './frame.ts';

export interface Screen {
  /** Prints a line that stays. */
  printLine(text: string): void;
  /** Starts a chapter; `hints` says what to watch. */
  turn(title: string, hints: readonly string[]): void;
  /** Reports an event of the chapter. */
  report(text: string): void;
  show(moment: ShownMoment): void;
  /** Reports a decision of the controller. */
  decide(text: string): void;
  /** Restores the terminal. */
  close(): void;
}

/** A frame without the parts that the screen itself keeps. */
export type ShownMoment = Pick<Frame, 'elapsed' | 'chapter' | 'picture'>;

export interface Terminal {
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly rows: number;
}

/** Maximum decisions shown at a time, if there is room. */
const maxDecisions = 8;
/** Between two lines about the subnets, in s. */
const subnetsInterval = 10;
/** Between two equal lines, in s. */
const idleInterval = 5;

export function liveScreen(terminal: Terminal): Screen {
  const live = new LiveFrame(terminal.write);
  const decisions: string[] = [];
  const history: string[] = [];
  let hints: readonly string[] = [];
  let notes: string[] = [];
  return {
    printLine: (text) => live.leave([text]),
    // Lines above a full screen are invisible, so they are part of the frame and are repeated at the end.
    turn: (title, lines) => {
      history.push('', title, ...lines);
      hints = lines;
      notes = [];
    },
    report: (text) => {
      history.push(text);
      notes.push(text);
    },
    show: (moment) => {
      const size = { columns: terminal.columns, rows: terminal.rows - 1 };
      live.draw(frameLines({ ...moment, hints, notes, decisions }, size));
    },
    decide: (text) => {
      decisions.push(text);
      if (decisions.length > maxDecisions) decisions.shift();
    },
    close: () => live.leave(history.splice(0)),
  };
}

/**
 * Shows a frame every second at most, and every few seconds without changes. Counts decisions in a burst instead of
 * listing them.
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
  const printLine = (text: string): void => {
    flush();
    terminal.write(`${text}\n`);
  };
  return {
    printLine,
    turn: (title, hints) => ['', title, ...hints].forEach(printLine),
    report: printLine,
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
