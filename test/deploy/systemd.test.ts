// deploy/systemd: units that systemd takes, and that leave the service few rights.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../src/config/load/load.ts'
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
  const folder = quickFolder(t, 'unit')
  const file = join(folder, 'gatehouse.service')
  const here = unit
    .replaceAll('/opt/gatehouse/node_modules/.bin/node', process.execPath)
    .replaceAll('/opt/gatehouse/dist/main.js', main)
  writeFileSync(file, here)
  const sockets = join(folder, 'gatehouse.socket')
  cpSync(join(root, 'deploy/systemd/gatehouse.socket'), sockets)
  assert.equal(analyze(['verify', file, sockets]), '')
  const [program, ...args] = /^ExecStart=(.*)$/m.exec(here)![1]!.split(' ')
  const configuration = join(root, 'config/gatehouse.yaml')
  const given = args.map(
    arg => ({ start: 'check', '/etc/gatehouse/gatehouse.yaml': configuration })[arg] ?? arg,
  )
  const { status, stderr } = spawnSync(program!, given, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

test('systemctl reload runs the command that reports why a configuration is rejected, with the configuration of the service', () => {
  const command = settings.get('ExecStart')!
  assert.equal(settings.get('ExecReload'), command.replace(' start ', ' reload '))
})

test('the service may do little', () => {
  analyze(['security', '--offline=true', '--threshold=20', join(root, 'deploy/systemd/gatehouse.service')])
})

test('streams have the time that a graceful stop promises, and connections the descriptors', () => {
  assert.ok(Number(settings.get('TimeoutStopSec')) > 30)
  assert.ok(Number(settings.get('LimitNOFILE')) > 2 * 10_000)
})

test('the workers of a service that was killed do not hold up the next start for as long as their streams last', () => {
  assert.equal(settings.get('KillMode'), 'mixed')
  assert.equal(settings.get('Restart'), 'always')
})

test('the service is well for systemd only while Gatehouse says so, which it does twice in that time', () => {
  assert.equal(settings.get('Type'), 'notify')
  assert.ok(Number(settings.get('WatchdogSec')) >= 30)
})

test('the sockets are for the addresses that a configuration has by itself', t => {
  const socket = readFileSync(join(root, 'deploy/systemd/gatehouse.socket'), 'utf8')
  const addresses = Array.from(socket.matchAll(/^ListenStream=(.*)$/gm), ([, address]) => address)
  const file = join(quickFolder(t, 'unit'), 'gatehouse.yaml')
  writeFileSync(file, 'zones: []')
  const loaded = loadConfig(file, {})
  assert.ok('config' in loaded)
  const { listen, admin } = loaded.config
  const own = [...listen, admin].map(({ host, port }) => `${host}:${port}`)
  assert.deepEqual(addresses, own)
})
