// Where the demonstration is shown: redrawn in place on a terminal, line by line everywhere else.
import { type Frame, frameLines, plainLine, subnetsLine } from './frame.ts';

export interface Screen {
  /** Something to keep: stays where it is written. */
  say(text: string): void;
  show(frame: Frame): void;
  /** A decision of the controller, in words. */
  decide(text: string): void;
  /** Leaves the terminal as it should be. */
  close(): void;
}

export interface Terminal {
  readonly write: (text: string) => void;
  readonly columns: number;
  readonly rows: number;
}

/** Decisions that a screen shows at a time, as far as it has room. */
const mostDecisions = 8;
/** Between two lines about the subnets, in s. */
const subnetsInterval = 10;

export function liveScreen(terminal: Terminal): Screen {
  let drawn = 0;
  const decisions: string[] = [];
  const erase = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`);
  return {
    say: (text) => {
      terminal.write(`${erase()}${text}\n`);
      drawn = 0;
    },
    show: (frame) => {
      // The cursor stands below the last line: a full screen would scroll, and what scrolled cannot be redrawn.
      const lines = frameLines(
        { ...frame, decisions },
        { columns: terminal.columns, rows: terminal.rows - 1 },
      );
      terminal.write(`${erase()}${lines.join('\n')}\n`);
      drawn = lines.length;
    },
    decide: (text) => {
      decisions.push(text);
      if (decisions.length > mostDecisions) decisions.shift();
    },
    close: () => undefined,
  };
}

/** Frames are shown every second at most, decisions in a burst are counted instead of listed. */
export function plainScreen(terminal: Terminal): Screen {
  let shownAt = -Infinity;
  let subnetsAt = 0;
  let held: string[] = [];
  const flush = (): void => {
    const [first, second, ...more] = held;
    for (const text of [first, second]) if (text !== undefined) terminal.write(`       ${text}\n`);
    if (more.length > 0) terminal.write(`       and ${more.length} more decisions\n`);
    held = [];
  };
  return {
    say: (text) => {
      flush();
      terminal.write(`${text}\n`);
    },
    show: (frame) => {
      if (frame.elapsed - shownAt < 1) return;
      shownAt = frame.elapsed;
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
