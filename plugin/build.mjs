// Compiles the CNI plugin headwater-ipam into plugin/dist/: one static program of the C library alone. CC names the compiler.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const out = join(here, 'dist', 'headwater-ipam');
const flags = ['-std=c17', '-Wall', '-Wextra', '-Werror', '-Wno-format-nonliteral', '-Os', '-static', '-s'];

mkdirSync(join(here, 'dist'), { recursive: true });
const compiler = process.env['CC'] || 'cc';
const { status, error } = spawnSync(compiler, [...flags, '-o', out, join(here, 'headwater-ipam.c')], {
  stdio: 'inherit',
});
if (error !== undefined) {
  process.stderr.write(
    `cannot run ${compiler}: ${error.message}; install a C compiler and the static C library\n`,
  );
}
process.exitCode = status ?? 1;
