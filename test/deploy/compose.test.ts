// deploy/compose: what an engine would be given, without one.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse as load } from 'yaml'
import { parse } from '../../src/config/load/parse.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'

interface Service {
  readonly command?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly networks: readonly string[]
}

const folder = join(root, 'deploy/compose')
const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
const compose = load(read('compose.yaml'))
const services: Readonly<Record<'gatehouse' | 'redis' | 'prometheus' | 'grafana', Service>> = compose.services

test('compose.yaml is as the Compose Specification says', t => {
  assert.equal(lint(join(folder, 'compose.yaml')), '')
  const wrong = join(quickFolder(t, 'compose'), 'compose.yaml')
  writeFileSync(wrong, read('compose.yaml').replace('    build:', '    biuld:'))
  assert.match(lint(wrong), /must NOT have additional properties/)
})

/** Returns what a linter of Compose files has against one, but for matters of taste. */
function lint(file: string): string {
  const rules = [
    'no-quotes-in-volumes',
    'no-unbound-port-interfaces',
    'service-keys-order',
    'services-alphabetical-order',
  ].flatMap(rule => ['--disable-rule', rule])
  const { stdout, stderr, error } = spawnSync(join(root, 'node_modules/.bin/dclint'), [file, ...rules], {
    encoding: 'utf8',
  })
  if (error) throw error
  return (stdout + stderr).trim()
}

test('every file and volume that is mounted is there', () => {
  for (const { volumes = [] } of Object.values(services))
    for (const volume of volumes) {
      const [from] = volume.split(':') as [string]
      assert.ok(from.startsWith('.') ? existsSync(join(folder, from)) : from in compose.volumes, from)
    }
})

test('what is for operators listens on loopback alone, and Redis for the gateway alone', () => {
  const open = Object.values(services)
    .flatMap(({ ports = [] }) => ports)
    .filter(port => !port.startsWith('127.0.0.1:'))
  assert.deepEqual(open, ['80:8080', '443:8443'])
  const reached = Object.entries(services).filter(([, { networks }]) => networks.includes('data'))
  assert.deepEqual(
    reached.map(([name]) => name),
    ['gatehouse', 'redis'],
  )
  assert.equal(compose.networks.data.internal, true)
  assert.equal(services.redis.ports, undefined)
})

test('Redis keeps what the gateway has confirmed', () => {
  const [server, ...settings] = services.redis.command!
  assert.equal(server, 'redis-server')
  assert.deepEqual(settings, [
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--maxmemory-policy',
    'noeviction',
  ])
})

test('the configuration is right, with the environment that compose.yaml sets', () => {
  const { STORE } = compose.services.gatehouse.environment
  const env = {
    STORE,
    GATEHOUSE_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    ORIGIN: 'http://site:9000',
    GATEHOUSE_ADMIN: '0.0.0.0:8081',
  }
  const path = services.gatehouse.command!.at(-1)!
  const yaml = read(join('gatehouse', path.replace('/etc/gatehouse/', '')))
  const parsed = parse(yaml, { env, readFile: assert.fail, findFile: path => path })
  assert.ok('config' in parsed)
  // Keys of providers are for those who have some. Its site is on the hosts of the side port, as on a machine of one's own.
  assert.deepEqual(
    parsed.warnings.map(({ path }) => path),
    ['ai.providers.openai', 'ai.providers.anthropic', 'zones[0].hosts[0]', 'zones[0].hosts[1]'],
  )
  const commented = yaml.match(/^#(listen: .*)\n#(tls: .*)$/m)!
  assert.deepEqual(Object.keys(load(`${commented[1]}\n${commented[2]}`)), ['listen', 'tls'])
})
