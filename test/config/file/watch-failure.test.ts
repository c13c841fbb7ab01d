import { deepEqual } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { quickFolder } from '../../help/quick-folder.ts'

test('a watch that the system refuses is reported, and tried again after the next reload on request', t => {
  const file = join(quickFolder(t, 'watch'), 'gatehouse.yaml')
  writeFileSync(file, 'old')
  const program = join(import.meta.dirname, 'starved.ts')
  // Descriptors for Node itself, and some that the program takes.
  const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, program, file]
  const { status, stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8', timeout: 30_000 })
  deepEqual({ status, stdout, stderr }, { status: 0, stdout: 'EMFILE\n', stderr: '' })
})
