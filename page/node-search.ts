// Finds a node by a part of its name.
import type { VNode } from 'preact';
import { counted } from '../src/commands/status/words.ts';
import { addressOf } from './chosen-node.ts';
import { find, type Found } from './tiles.ts';
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';

export function NodeSearch({ names }: { readonly names: readonly string[] }): VNode | string {
  const [text, setText] = useState('');
  const found = find(text, names);
  const write = ({ currentTarget }: Event): void => setText((currentTarget as HTMLInputElement).value);
  const explain = (event: Event): void => {
    event.preventDefault();
    // The server names the nearest one where none matches.
    const node = found.only ?? (found.shown.length === 0 ? text.trim() : '');
    if (node !== '') location.hash = addressOf(node);
  };
  return html`
    <form role="search" onSubmit=${explain}>
      <label>Find a node <input type="search" placeholder="a part of its name" autocomplete="off" spellcheck=${false} value=${text} onInput=${write} /></label>
      <button>Explain</button>
      <p role="status">${text.trim() === '' ? '' : matchesInWords(found)}</p>
      <ul class="found">${found.shown.map((node) => html`<li><a href=${addressOf(node)}>${node}</a></li>`)}</ul>
    </form>
  `;
}

function matchesInWords({ shown, more }: Found): string {
  if (shown.length === 0) return 'no node matches';
  const count = counted(shown.length + more, 'match', 'es');
  return more === 0 ? count : `${count}, the first ${shown.length} of them:`;
}
