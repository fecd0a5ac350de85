// Lays out the help: short terms beside their description, long ones above it, so that paragraphs stay readable on 80
// columns.
import { Help, type HelpConfiguration } from 'commander';

const narrowest = 60;
const widest = 110;
const indent = ' '.repeat(8);

/** Wide enough for paragraphs and narrow enough to read. 80 without a terminal. */
export function helpWidth(columns: number | undefined): number {
  return Math.min(widest, Math.max(narrowest, columns ?? 80));
}

export const helpLayout: HelpConfiguration = {
  optionDescription: (option) => option.description,
  formatItem: (term, termWidth, description, helper) => {
    const besides = termWidth <= 24;
    if (besides) return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    const lines = helper.boxWrap(description, (helper.helpWidth ?? widest) - indent.length);
    return `  ${term}\n${lines.replaceAll(/^/gm, indent)}`;
  },
  formatItemList: (heading, items) => {
    if (items.length === 0) return [];
    const apart = items.some((item) => item.includes('\n')) ? '\n\n' : '\n';
    return [heading, items.join(apart), ''];
  },
};
