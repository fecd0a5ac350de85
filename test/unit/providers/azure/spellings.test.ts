import { describe, expect, test } from '@jest/globals';
import { Spellings } from '../../../../src/providers/azure/ids.ts';

describe('the spelling of an id', () => {
  test('is the first one, in whatever case it is met later', () => {
    const spellings = new Spellings();

    const met = ['/Subnets/a', '/subnets/A', '/Subnets/b'].map((id) => spellings.of(id));

    expect(met).toEqual(['/Subnets/a', '/Subnets/a', '/Subnets/b']);
  });

  test('is forgotten once very many others were met since', () => {
    const spellings = new Spellings();
    spellings.of('/Kept');
    spellings.of('/Gone');

    for (let each = 0; each < 150_000; each++) spellings.of(`/old/${each}`);
    spellings.of('/kept');
    for (let each = 0; each < 150_000; each++) spellings.of(`/new/${each}`);

    expect([spellings.of('/kept'), spellings.of('/gone')]).toEqual(['/Kept', '/gone']);
  });
});
