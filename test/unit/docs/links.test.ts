import { describe, expect, test } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);
const pages = ['README.md', ...globSync(['docs/**/*.md', 'bench/*.md'], { cwd: root })];
const withoutCode = (markdown: string): string => markdown.replaceAll(/^```.*?^```$/gms, '');

/** The anchors of the headings of a page, as GitHub generates them. */
function anchorsOf(markdown: string): readonly string[] {
  return Array.from(withoutCode(markdown).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Links of the page to missing places. */
function deadLinks(page: string, markdown: string): readonly string[] {
  const links = Array.from(withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? new URL(page, root) : new URL(path, new URL(page, root));
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
  });
}

describe('links between the pages', () => {
  test.each(pages)('lead somewhere: %s', (page) => {
    expect(deadLinks(page, readFileSync(new URL(page, root), 'utf8'))).toEqual([]);
  });

  test('are reported as dead when there is no such file or heading', () => {
    const links = '[a](nowhere.md) [b](README.md) [c](README.md#no-such) [d](README.md#install-it)';

    expect(deadLinks('README.md', links)).toEqual(['nowhere.md', 'README.md#no-such']);
  });
});
