import { equal } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { settleStringMethods } from '../../../src/base/text/string-methods.ts'

setFlagsFromString('--allow-natives-syntax')
const areSettled = new Function('return %HasFastProperties(String.prototype)') as () => boolean

test('a class that extends String does not slow the methods of strings down', () => {
  equal(areSettled(), true)
  class Extended extends String {}
  equal(areSettled(), false, `V8 minds no ${Extended.name} any more, and nothing has to be settled`)
  settleStringMethods()
  equal(areSettled(), true)
})

test('with the Redis client, they are as without', async () => {
  const client = new URL('../../../src/store/redis/server/connect.ts', import.meta.url)
  const script = `await import('${client}'); process.stdout.write(String(%HasFastProperties(String.prototype)))`
  const options = ['--allow-natives-syntax', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  equal(stdout, 'true')
})
