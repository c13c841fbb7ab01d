// deploy/systemd: units that systemd takes, and that leave the service few rights.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'

const unit = readFileSync(join(root, 'deploy/systemd/gatehouse.service'), 'utf8')
const settings = new Map(Array.from(unit.matchAll(/^(\w+)=(.*)$/gm), ([, name, value]) => [name!, value!]))

function analyze(args: readonly string[]): string {
  const { stdout, stderr, status, error } = spawnSync(
    process.env.SYSTEMD_ANALYZE ?? 'systemd-analyze',
    args,
    {
      encoding: 'utf8',
    },
  )
  if (error) throw error
  assert.equal(status, 0, stdout + stderr)
  return stdout + stderr
}

test('systemd understands every line, and the program starts by it', t => {
  const file = join(quickFolder(t, 'unit'), 'gatehouse.service')
  const here = unit
    .replaceAll('/opt/gatehouse/node_modules/.bin/node', process.execPath)
    .replaceAll('/opt/gatehouse/src/main.ts', main)
  writeFileSync(file, here)
  assert.equal(analyze(['verify', file]), '')
  const [program, ...args] = /^ExecStart=(.*)$/m.exec(here)![1]!.split(' ')
  const configuration = join(root, 'config/gatehouse.yaml')
  const given = args.map(
    arg => ({ start: 'check', '/etc/gatehouse/gatehouse.yaml': configuration })[arg] ?? arg,
  )
  const { status, stderr } = spawnSync(program!, given, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

test('the service may do little', () => {
  analyze(['security', '--offline=true', '--threshold=20', join(root, 'deploy/systemd/gatehouse.service')])
})

test('streams have the time that a graceful stop promises, and connections the descriptors', () => {
  assert.ok(Number(settings.get('TimeoutStopSec')) > 30)
  assert.ok(Number(settings.get('LimitNOFILE')) > 2 * 10_000)
})
