// `gatehouse token` and `gatehouse store`, as far as what they are given is wrong; where it is right, journeys tell.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gatehouse } from '../help/command.ts'
import { writeConfig } from '../help/gateway.ts'

const config = '\nzones: []\nai: { hosts: [127.0.0.1] }'

test('token create tells what is wrong, and makes nothing', async t => {
  const file = writeConfig(t, config)
  const env = { GATEHOUSE_DATA: join(file, '..', 'data') }
  const outcomes = [
    [['token'], 2, /there is no command 'token '/],
    [['token', 'steal'], 2, /there is no command 'token steal'/],
    [
      ['token', 'create', '--permission', 'Everything'],
      2,
      /there is no permission 'Everything'; there are: OAuth/,
    ],
    [['token', 'create', '--config', file], 1, /the store .* is empty/],
  ] as const
  for (const [args, code, sentence] of outcomes) {
    const outcome = await gatehouse(args, env)
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], args.join(' '))
    assert.match(outcome.stderr, sentence)
  }
})

test('store copy tells what is wrong, without the password in a URL', async () => {
  const usage = await gatehouse(['store', 'copy', '--from', 'sqlite::memory:'])
  assert.deepEqual([usage.code, /usage/.test(usage.stderr)], [2, true])
  const unknown = await gatehouse([
    'store',
    'copy',
    '--from',
    'mysql://user:SECRET@host/',
    '--to',
    'sqlite::memory:',
  ])
  assert.equal(unknown.code, 1)
  assert.doesNotMatch(unknown.stderr, /SECRET/)
  const unset = await gatehouse(['store', 'copy', '--from', `\${NOT_SET}`, '--to', 'sqlite::memory:'])
  assert.deepEqual([unset.code, /NOT_SET/.test(unset.stderr)], [2, true])
  const away = await gatehouse([
    'store',
    'copy',
    '--from',
    'redis://user:SECRET@127.0.0.1:1',
    '--to',
    'sqlite::memory:',
  ])
  assert.equal(away.code, 1)
  assert.match(away.stderr, /the store is away \(ECONNREFUSED\)/)
  assert.doesNotMatch(away.stderr, /SECRET/)
})
