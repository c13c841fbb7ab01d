import { equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { readActor } from '../../../src/budgets/policies/actor.ts'

function flawOf(text: string): string {
  const read = readActor(text)
  return typeof read === 'string' ? read : ''
}

test('an actor is everybody, an identity, a team, or a template for each of them', () => {
  for (const text of [
    ...['*', 'user:u1', 'user:ada@example.com', 'app:a b', 'token:t1', 'team:{metadata.team}'],
    ...['user:{svc.user.id}', 'app:{svc.app.id}', 'token:{svc.token.id}', 'user:{metadata.user id}'],
    ...[`user:${'x'.repeat(315)}`, `team:{metadata.${'x'.repeat(100)}}`],
  ])
    equal(flawOf(text), '', text)
})

test('any other text is refused with what would be right', () => {
  for (const text of [
    ...['', 'user', 'user:', 'people:x', '**', 'user:{', 'user:a}b', 'user:{}', 'user:x{svc.user.id}'],
    ...[
      'user:a\u0000',
      'user:a\u202eb',
      'user:\ud800',
      'team:{metadata.}',
      `team:{metadata.${'x'.repeat(101)}}`,
    ],
  ])
    match(flawOf(text), /^must be \*, or user:, app:, token: or team: with an id/, JSON.stringify(text))
  equal(flawOf(`user:${'x'.repeat(316)}`), 'must have at most 320 characters')
  equal(flawOf('user:{svc.app.id}'), 'must have {svc.user.id} or {metadata.NAME} as its template')
  for (const text of ['team:{svc.team.id}', 'team:{svc.user.id}'])
    equal(flawOf(text), 'must have {metadata.NAME} as its template')
})

test('what is proven and what callers say have budgets of their own', () => {
  const sourceOf = (text: string) => {
    const read = readActor(text)
    return typeof read === 'string' ? read : read.source
  }
  equal(sourceOf('user:u1'), sourceOf('user:{svc.user.id}'))
  equal(sourceOf('team:a'), sourceOf('team:{metadata.team}'))
  notEqual(sourceOf('user:{metadata.user}'), sourceOf('user:{svc.user.id}'))
  equal(new Set(['*', 'user:a', 'app:a', 'token:a', 'team:a'].map(sourceOf)).size, 5)
})
