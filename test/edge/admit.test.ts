import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, noteRefusal } from '../../src/edge/admit.ts'
import type { Exchange } from '../../src/edge/exchange.ts'

/** Stands in for an exchange and counts what its policies are asked. */
function exchange(verdicts: { all: unknown; zone?: unknown }) {
  const asked: string[] = []
  const policy = (name: string, verdict: unknown) => ({
    isEmpty: verdict === 'empty',
    decide: () => {
      asked.push(name)
      return verdict === 'empty' ? null : verdict
    },
    note: (address: string) => asked.push(`${name} notes ${address}`),
  })
  const x = {
    isAdmitted: false,
    clientAddress: '192.0.2.1',
    head: { target: '/', fields: [] },
    snapshot: { access: policy('all', verdicts.all) },
    zone: 'zone' in verdicts ? { access: policy('zone', verdicts.zone) } : null,
  }
  return { x: x as unknown as Exchange, asked }
}

const denied = { error: 'ip_banned' }

test('policies without rules are not asked', () => {
  const { x, asked } = exchange({ all: 'empty', zone: 'empty' })
  assert.equal(admit(x), null)
  assert.deepEqual(asked, [])
})

test('where there is no zone, as for AI calls, the rules of all zones hold', () => {
  const { x, asked } = exchange({ all: denied })
  assert.equal(admit(x), denied)
  assert.deepEqual(asked, ['all', 'all notes 192.0.2.1'])
})

test('a story that is told again passes', () => {
  const { x, asked } = exchange({ all: null, zone: 'allow' })
  assert.equal(admit(x), null)
  assert.equal(admit(x), null)
  assert.deepEqual(asked, ['all', 'zone'])
})

test('what the rules of all zones allow their zone is not asked about', () => {
  const { x, asked } = exchange({ all: 'allow', zone: denied })
  assert.equal(admit(x), null)
  assert.deepEqual(asked, ['all'])
})

test('a refusal is noted by both, unless it says nothing of the client', () => {
  const refused = exchange({ all: null, zone: denied })
  assert.equal(admit(refused.x), denied)
  assert.deepEqual(refused.asked, ['all', 'zone', 'all notes 192.0.2.1', 'zone notes 192.0.2.1'])
  for (const error of [
    'legal_block',
    'legal_country_block',
    'access_protection_error',
    'malicious_activity_banned',
  ]) {
    const { x, asked } = exchange({ all: null, zone: { error } })
    admit(x)
    assert.deepEqual(asked, ['all', 'zone'], error)
  }
})

test('other steps note their refusals too', () => {
  const { x, asked } = exchange({ all: 'empty', zone: 'empty' })
  noteRefusal(x)
  assert.deepEqual(asked, ['all notes 192.0.2.1', 'zone notes 192.0.2.1'])
})
