import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeOf } from '../../../src/edge/answers/scope.ts'
import type { AiExchange } from '../../../src/edge/ai-call/ai-exchange.ts'

type Scope = 'token' | 'app' | 'shared' | undefined

const scope = (cacheScope: Scope, token: object | null, hasOwnKey = false) =>
  JSON.stringify(
    scopeOf(
      { gateway: { cacheScope }, token } as unknown as Pick<AiExchange, 'gateway' | 'token'> as AiExchange,
      hasOwnKey,
    ),
  )

const app = (client: string, user: string, id = `${client}/${user}`) => ({ id, actor: { client, user } })
const callers = [
  null,
  ...[{ id: 'a' }, { id: 'b' }, { id: 'x/1' }, { id: 'x' }, { id: 'shared' }, { id: 'anyone' }],
  ...[app('x', '1'), app('x', '2'), app('y', '1')],
]

test('nobody shares the responses of another token, or of another user of an app, unless the gateway says so', () => {
  for (const given of [undefined, 'token'] as const)
    assert.equal(new Set(callers.map(caller => scope(given, caller))).size, callers.length)
})

test('users of an app share those of the app, and all callers with a token those of the gateway', () => {
  assert.equal(scope('app', app('x', '1')), scope('app', app('x', '2')))
  assert.equal(new Set(callers.map(caller => scope('app', caller))).size, callers.length - 1)
  assert.equal(new Set(callers.map(caller => scope('shared', caller))).size, 2)
  assert.notEqual(scope('shared', null), scope('shared', { id: 'a' }))
})

test('a key of the caller, which others could guess, is never shared', () => {
  for (const given of [undefined, 'token', 'app', 'shared'] as const)
    assert.equal(new Set(callers.map(caller => scope(given, caller, true))).size, callers.length)
})
