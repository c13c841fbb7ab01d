import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newSecret } from '../../src/pages/forms/csrf.ts'
import { pathIn, stateForm, stateOf } from '../../src/sign-in/site-state.ts'
import { anyCharacter } from '../help/any-text.ts'

const [secret, other] = [newSecret(), newSecret()]
const path = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 }).map(rest => `/${rest}`)

test('a state has its path for the secret that it was made with, and for no other', () => {
  fc.assert(
    fc.property(path, to => {
      const state = stateOf(secret, to)
      assert.match(state, stateForm)
      assert.equal(pathIn(state, secret), to.toWellFormed())
      for (const wrong of [other, '', null, secret.slice(1), `${secret}A`])
        assert.equal(pathIn(state, wrong), null)
    }),
    { numRuns: 200 },
  )
})

test('whatever becomes of a state on the way, it leads nowhere else', () => {
  const part = fc.oneof(
    fc.constantFrom('.', '=', '-', '_', '+', '/', '%2e', ' ', '\0', '\n', 'A'),
    fc.string({ unit: anyCharacter, maxLength: 3 }),
  )
  fc.assert(
    fc.property(path, path, part, fc.nat(), fc.nat(3), (to, evil, more, place, cut) => {
      const state = stateOf(secret, to)
      const at = place % (state.length + 1)
      const [token] = state.split('.') as [string]
      const encoded = Buffer.from(evil).toString('base64url')
      for (const changed of [
        state.slice(0, at) + more + state.slice(at + cut),
        `${token}.${encoded}`,
        `${stateOf(other, evil).split('.')[0]}.${encoded}`,
        stateOf(other, evil),
        `${state}.${encoded}`,
        `${state}${encoded}`,
        state.toLowerCase(),
        state.replace('.', ''),
      ])
        assert.ok([null, to].includes(pathIn(changed, secret)), changed)
    }),
    { numRuns: 300 },
  )
})
