import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { People } from '../../src/people/people.ts'
import { onStores, type Village, visit } from './on-stores.ts'
import { password } from './settlement.ts'

const openid = {
  issuer: 'https://id.example',
  clientId: 'gatehouse',
  clientSecret: 'secret',
  tenants: null,
  groups: null,
}

function peopleOf({ store, keys, passwords, clock }: Village, config: People['config']): People {
  return new People({ store, keys, config, log: pino({ enabled: false }), passwords, clock })
}

onStores('what sign_up says holds: invited, openid or open', async village => {
  const own = { email: 'new@example.com', password }
  for (const [signUp, outcome] of [
    ['invited', 'closed'],
    ['openid', 'closed'],
    ['open', 'done'],
  ] as const) {
    const people = peopleOf(village, { signUp, openid })
    assert.equal(people.openId?.providerName, 'id.example')
    assert.equal((await people.signUp.signUp(own, visit)).outcome, outcome)
  }
  const people = peopleOf(village, { signUp: 'open', openid: null })
  assert.equal(people.openId, null)
  const done = await people.signIn.withPassword(own, visit)
  assert.ok(done.outcome === 'signed_in')
  assert.ok(await people.sessions.find(done.value))
})

test('the package of the OpenID provider is loaded by the first who signs in there', async () => {
  const script = fileURLToPath(new URL('../../src/people/people.ts', import.meta.url))
  const code = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    const { People } = await import(${JSON.stringify(script)})
    const config = { signUp: 'invited', openid: ${JSON.stringify(openid)} }
    new People({ store: { counters: {} }, config })
    console.log(loaded.some(url => url.includes('/people/openid/openid-sign-in.ts')), loaded.some(url => url.includes('openid-client')))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  assert.equal(stdout.trim(), 'true false')
})
