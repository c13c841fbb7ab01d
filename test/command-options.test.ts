// Commands that try promises refuse what they cannot read, since a run that tries nothing would look like one that found nothing.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { join } from 'node:path'
import { root } from './help/source.ts'

const mistakes: readonly (readonly [string, RegExp])[] = [
  ['simulate.ts budgets --schedules many', /^--schedules must be a whole number from 1, not many\n$/],
  ['simulate.ts budgets --schedules=-5', /^--schedules must be a whole number from 1, not -5\n$/],
  ['simulate.ts budgets --seed x', /^--seed must be a whole number from 0, not x\n$/],
  ['simulate.ts --seed 4', /^--seed needs the scenario whose schedule it is\n$/],
  ['simulate.ts nothing', /^unknown scenario nothing; there are budgets, /],
  ['simulate.ts budgets --speed 1', /^Unknown option '--speed'/],
  ['fuzz.ts cookies --minutes long', /^--minutes must be a number above 0, not long\n$/],
  ['fuzz.ts cookies --minutes 0', /^--minutes must be a number above 0, not 0\n$/],
  ['fuzz.ts cookies --replay nowhere.txt', /^--replay: there is no file nowhere\.txt\n$/],
  ['mutants.ts', /^name framing, security, money, or files or folders of src to mutate\n$/],
  [
    'mutants.ts src/base/text --lines 99999',
    /there is nothing to mutate in src\/base\/text, on those lines\n/,
  ],
  ['mutants.ts src/nothing.ts', /^there is no src\/nothing\.ts\n$/],
  ['conformance/http1.ts --runs never', /^--runs must be a whole number from 1, not never\n$/],
  ['conformance/http1.ts --only 99', /^--only: no case is of section 99\n$/],
  ['conformance/http2.ts --target apache', /^--target must be one of gatehouse, /],
  ['conformance/store-history.ts --rounds all', /^--rounds must be a whole number from 1, not all\n$/],
  ['conformance/store-history.ts --fault rain', /^unknown fault rain; there are: /],
  [
    'REDIS_SERVER=/nowhere/redis conformance/store-history.ts',
    /^\/nowhere\/redis is no Redis that starts: install one, or name it in REDIS_SERVER\n$/,
  ],
  ['REDIS_SERVER=true conformance/store-history.ts', /^true is no Redis that starts: /],
  ['FUZZ_CONNECTIONS=5 fuzz/onward.test.ts', /^FUZZ_CONNECTIONS must be a whole number from 50, not 5\n$/],
  [
    'FUZZ_CONNECTIONS=many fuzz/onward.test.ts',
    /^FUZZ_CONNECTIONS must be a whole number from 50, not many\n$/,
  ],
  ['FUZZ_SEED=x fuzz/onward.test.ts', /^FUZZ_SEED must be a whole number from 0, not x\n$/],
]

for (const [command, message] of mistakes)
  test(`${command} is refused`, async () => {
    const words = command.split(' ')
    const variables = words.filter(word => /^[A-Z_]+=/.test(word)).map(word => word.split('='))
    const [file, ...options] = words.slice(variables.length)
    const env = { ...process.env, ...Object.fromEntries(variables) }
    const child = spawn(process.execPath, [join(root, 'test', file!), ...options], { cwd: root, env })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit'), text(child.stdout)])
    assert.match(said, message)
    assert.equal(code, 2)
  })
