import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Config } from '../../../src/config/model/config.ts'
import { loadConfig } from '../../../src/config/load/load.ts'
import { quickGatehouse } from '../../help/command.ts'
import { main } from '../../help/gateway.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { root } from '../../help/source.ts'

test('init writes a configuration without mistakes, and says how to start with it', async t => {
  const path = join(quickFolder(t, 'init'), 'my.yaml')
  const { code, stderr } = await quickGatehouse(['init', path])
  assert.equal(code, 0)
  assert.match(stderr, /^\S+ is written\. ORIGIN=\S+ gatehouse start --config \S+ serves/)
  assert.equal((await quickGatehouse(['check', '--config', path])).code, 0)
})

test('an address that is changed in what init writes is where the gateway listens', async t => {
  const path = join(quickFolder(t, 'init'), 'my.yaml')
  await quickGatehouse(['init', path])
  const written = readFileSync(path, 'utf8')
  const addresses = (text: string, env: NodeJS.ProcessEnv = {}, given = {}) => {
    writeFileSync(path, text)
    const { listen, admin } = (loadConfig(path, env, { given }) as { config: Config }).config
    return [listen.map(({ host, port }) => `${host}:${port}`), `${admin.host}:${admin.port}`]
  }
  assert.deepEqual(addresses(written), [['0.0.0.0:8080'], '127.0.0.1:8081'])
  const changed = written
    .replace('address: 0.0.0.0:8080', 'address: 127.0.0.1:3000')
    .replace('{GATEHOUSE_ADMIN:-127.0.0.1:8081}', '{GATEHOUSE_ADMIN:-127.0.0.1:3001}')
  assert.deepEqual(addresses(changed), [['127.0.0.1:3000'], '127.0.0.1:3001'])
  // What starts it still has the last word.
  const env = { GATEHOUSE_ADMIN: '127.0.0.1:4001' }
  assert.deepEqual(addresses(written, env, { port: '4000' }), [['0.0.0.0:4000'], '127.0.0.1:4001'])
  assert.deepEqual(addresses(written, {}, { listen: '127.0.0.1:5000', admin: '127.0.0.1:5001' }), [
    ['127.0.0.1:5000'],
    '127.0.0.1:5001',
  ])
})

test('init writes the schema to which the first line of the configuration leads, as schema prints it', async t => {
  const folder = quickFolder(t, 'init')
  const { stderr } = await quickGatehouse(['init', join(folder, 'my.yaml')])
  const [, name] = /^# yaml-language-server: \$schema=(.+)\n/.exec(
    readFileSync(join(folder, 'my.yaml'), 'utf8'),
  )!
  const { stdout } = await quickGatehouse(['schema'])
  assert.equal(readFileSync(join(folder, name!), 'utf8'), stdout)
  assert.equal(stdout, readFileSync(join(root, 'config/gatehouse.schema.json'), 'utf8'))
  assert.match(
    stderr,
    /^\S+\/gatehouse\.schema\.json is written: editors use it to complete, explain and check settings\.$/m,
  )
  // Of a second configuration beside it, it is the schema as well.
  const file = join(folder, 'other.yaml')
  const other = await quickGatehouse(['init', file, '--json'])
  assert.doesNotMatch(other.stderr, /schema/)
  assert.deepEqual(JSON.parse(other.stdout), { file, schema: join(folder, name!) })
})

test('init leaves another file of the name of the schema alone, and says how to get the schema', async t => {
  const folder = quickFolder(t, 'init')
  const path = join(folder, 'gatehouse.schema.json')
  writeFileSync(path, '{}')
  const { code, stdout, stderr } = await quickGatehouse(['init', join(folder, 'my.yaml'), '--json'])
  assert.equal(code, 0)
  assert.equal(JSON.parse(stdout).schema, null)
  assert.equal(
    stderr.split('\n')[1],
    `${path} is there already: it was left as it is. For the help of editors: gatehouse schema > ${path}`,
  )
  assert.equal(readFileSync(path, 'utf8'), '{}')
})

test('init leaves a file alone that is there', async t => {
  const path = join(quickFolder(t, 'init'), 'my.yaml')
  writeFileSync(path, 'zones: []\n')
  const { code, stderr } = await quickGatehouse(['init', path])
  assert.equal(code, 1)
  assert.match(stderr, /^gatehouse: \S+ is there already: it was left as it is\n$/)
  assert.equal(readFileSync(path, 'utf8'), 'zones: []\n')
})

test('init says why it cannot write', async t => {
  const { code, stderr } = await quickGatehouse(['init', join(quickFolder(t, 'init'), 'nowhere/my.yaml')])
  assert.equal(code, 1)
  assert.match(stderr, /^gatehouse: cannot write .*: ENOENT/)
})

test('init leaves no part of a file where there is no room for all of it', t => {
  const folder = quickFolder(t, 'init')
  const script = 'ulimit -f 8 && exec "$0" "$@"'
  const init = [process.execPath, main, 'init', join(folder, 'my.yaml')]
  const { status, stderr } = spawnSync('sh', ['-c', script, ...init], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /^gatehouse: cannot write \S+my\.yaml: EFBIG/)
  assert.deepEqual(readdirSync(folder), [])
})
