// `gatehouse token` and `gatehouse store`, mostly as far as what they are given is wrong; where it is right, journeys tell.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { quickGatehouse } from '../../help/command.ts'
import { main, writeConfig } from '../../help/gateway.ts'

const config = '\nzones: []\nai: { hosts: [127.0.0.1] }'

test('token create reports mistakes, and creates nothing', async t => {
  const file = writeConfig(t, config)
  const env = { GATEHOUSE_DATA: join(file, '..', 'data') }
  const outcomes = [
    [['token'], 2, /gatehouse token create .*gatehouse token generate /s],
    [['token', 'steal'], 2, /unknown command 'token steal'/],
    [['token', 'create', '--permission', 'Everything'], 2, /unknown permission 'Everything'; known: OAuth/],
    [['token', 'create', '--config', file], 1, /there is no store sqlite:.*; start the gateway once/],
  ] as const
  for (const [args, code, sentence] of outcomes) {
    const outcome = await quickGatehouse(args, env)
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], args.join(' '))
    assert.match(outcome.stderr, sentence)
  }
})

test('token create names an unreachable store, without its password', async t => {
  const file = writeConfig(t, `${config}\nstore: { url: 'redis://user:SECRET@127.0.0.1:1' }`)
  const { code, stdout, stderr } = await quickGatehouse(['token', 'create', '--config', file])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^gatehouse: redis:\/\/127\.0\.0\.1:1: store unreachable \(ECONNREFUSED\)$/m)
  assert.doesNotMatch(stderr, /SECRET/)
})

test('store copy names the invalid option, without the password in a URL', async () => {
  const good = 'sqlite::memory:'
  const usage = await quickGatehouse(['store', 'copy', '--from', good])
  assert.deepEqual([usage.code, /usage/.test(usage.stderr)], [2, true])
  for (const [from, to, sentence] of [
    ['mysql://user:SECRET@host/', good, /^gatehouse: --from must begin with sqlite:/],
    [good, 'redis://user:SECRET@', /^gatehouse: --to must be redis:\/\//],
    [`\${NOT_SET}`, good, /^gatehouse: --from refers to \$\{NOT_SET\}/],
    [good, '', /^gatehouse: --to must not be empty/],
  ] as const) {
    const { code, stderr } = await quickGatehouse(['store', 'copy', '--from', from, '--to', to])
    assert.equal(code, 2, stderr)
    assert.match(stderr, sentence)
    assert.doesNotMatch(stderr, /SECRET/)
  }
})

test('store copy does not create its source, and names the unreachable store', async t => {
  const folder = join(writeConfig(t, config), '..')
  const [typo, target] = [join(folder, 'gatehosue.db'), join(folder, 'target.db')]
  const missing = await quickGatehouse([
    'store',
    'copy',
    '--from',
    `sqlite:${typo}`,
    '--to',
    `sqlite:${target}`,
  ])
  assert.deepEqual([missing.code, missing.stderr], [1, `gatehouse: file ${typo} not found\n`])
  assert.deepEqual([existsSync(typo), existsSync(target)], [false, false])
  const away = 'redis://user:SECRET@127.0.0.1:1'
  const { code, stderr } = await quickGatehouse(['store', 'copy', '--from', away, '--to', 'sqlite::memory:'])
  const sentence = 'nothing was copied: redis://127.0.0.1:1: store unreachable (ECONNREFUSED)'
  assert.deepEqual([code, stderr], [1, `gatehouse: ${sentence}\n`])
})

test('store copy reports in words what it copied', async t => {
  const folder = join(writeConfig(t, config), '..')
  const [from, to] = [`sqlite:${join(folder, 'a.db')}`, `sqlite:${join(folder, 'b.db')}`]
  const store = await openStore(from, { commandTimeout: 5_000 })
  await new FirstFill(store).run(7)
  await store.close()
  const { code, stderr } = await quickGatehouse(['store', 'copy', '--from', from, '--to', to])
  const words = `Copied 1 account, 1 gateway and 1 token from ${from} to ${to}.\n`
  assert.deepEqual([code, stderr], [0, words])
})

/** Runs commands without the right of root to read everything. */
const asAnyone =
  process.getuid?.() === 0
    ? [
        'setpriv',
        '--bounding-set',
        '-dac_override,-dac_read_search',
        '--inh-caps',
        '-dac_override,-dac_read_search',
      ]
    : ['env']

test('what the user may not look at is not called missing', { skip: process.platform !== 'linux' }, t => {
  const file = writeConfig(t, config)
  const folder = join(file, '..', 'closed')
  mkdirSync(folder)
  const run = (args: readonly string[], env: NodeJS.ProcessEnv) => {
    // Its own folder, as of one who comes by sudo.
    const script = 'chmod 0 . && exec "$@"'
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', script, 'sh', ...asAnyone, process.execPath, main, ...args],
      { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8' },
    )
    chmodSync(folder, 0o700)
    return [status, stderr]
  }
  assert.deepEqual(run(['check'], { GATEHOUSE_CONFIG: undefined }), [
    2,
    'gatehouse.yaml:1:1 the file cannot be read (EACCES)\n',
  ])
  const removed = spawnSync(
    'sh',
    ['-c', 'rmdir "$PWD" && exec "$@"', 'sh', process.execPath, main, 'check', '--config', 'my.yaml'],
    { cwd: folder, encoding: 'utf8' },
  )
  mkdirSync(folder)
  assert.deepEqual([removed.status, removed.stderr], [2, 'my.yaml:1:1 the file cannot be read (ENOENT)\n'])
  const stored = join(folder, 'data/gatehouse.db')
  assert.deepEqual(run(['token', 'list', '--config', file], { GATEHOUSE_DATA: join(folder, 'data') }), [
    1,
    `gatehouse: ${stored} cannot be used as the store: EACCES: permission denied, mkdir '${join(folder, 'data')}'\n`,
  ])
})
