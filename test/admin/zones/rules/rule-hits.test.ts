import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccessRule } from '../../../../src/config/model/access-config.ts'
import type { ErrorRule } from '../../../../src/config/model/custom-errors-config.ts'
import { ruleIdOf } from '../../../../src/config/model/rule-id.ts'
import { slotOf, type Tally } from '../../../../src/store/records/tally.ts'
import { openAccess } from '../../../help/edge.ts'
import { startApi } from '../../api.ts'
import { zoneWith } from '../zones.ts'

const rule = (action: AccessRule['action'], prefix: string): AccessRule => ({
  action,
  condition: { kind: 'path', prefixes: [prefix] },
  description: null,
})
const [global, legal, deny] = [rule('deny', '/all'), rule('legal', '/legal'), rule('deny', '/no')]

const errorRule: ErrorRule = {
  expression: 'true',
  content: 'x'.repeat(5_000),
  contentType: 'text/plain',
  status: null,
  description: 'of the file',
}

test('access rules are shown in the order in which they are asked, with what each decided', async t => {
  const { ask, given, kept, clock } = await startApi(t)
  const ban = { refusals: 3, within: 1_000, lasts: 1_000 }
  given.ofAll = { ...given.ofAll, access: { ...openAccess, rules: [global] } }
  given.configs[0] = zoneWith({ access: { rules: [deny, legal], otherwise: 'deny', ban } })
  const made = await ask('POST', '/client/v4/zones/main/access_rules', {
    body: { action: 'allow', ip: ['192.0.2.1'], description: 'office' },
  })
  const now = clock.now()
  const slot = slotOf('access_rule', now)
  const tally = (name: string, count: number, members: Partial<Tally> = {}): Tally => ({
    ...{ kind: 'access_rule', scope: 'zone main', name, slot, count, last: now, occurrences: [], ...members },
  })
  const { id } = made.json.result
  const old = { slot: slot - 3_600_000, last: now - 3_600_000 }
  await kept.tallies.add([
    tally(id, 7),
    tally(ruleIdOf(deny), 2),
    tally(ruleIdOf(deny), 3, old),
    tally('ban', 4),
    tally('default', 1),
    tally(ruleIdOf(legal), 9, { scope: 'zone other' }),
  ])
  const { json } = await ask('GET', '/client/v4/zones/main/access_rules/hits')
  const shown = json.result.map((row: Record<string, unknown>) =>
    [row.decides, row.source, row.number, row.action, row.hits].join(' '),
  )
  assert.deepEqual(shown, [
    'ban   deny 4',
    'rule all_zones_file 1 deny 0',
    'rule zone_file 2 legal 0',
    'rule api  allow 7',
    'rule zone_file 1 deny 5',
    'default   deny 1',
  ])
  const last = json.result[4]
  assert.deepEqual(
    [last.path, last.last_hit_at, last.hours.length],
    [['/no'], new Date(now).toISOString(), 2],
  )
  assert.deepEqual(
    [json.result[3].id, json.result[3].description, json.result[1].last_hit_at],
    [id, 'office', null],
  )
})

test('error rules are shown in order without their content', async t => {
  const { ask, given, kept, clock } = await startApi(t)
  given.ofAll = { ...given.ofAll, errors: { ...given.ofAll.errors, rules: [errorRule] } }
  const now = clock.now()
  const name = ruleIdOf(errorRule)
  const counted = { kind: 'error_rule', scope: 'zone main', name, slot: slotOf('error_rule', now) } as const
  await kept.tallies.add([{ ...counted, count: 3, last: now, occurrences: [] }])
  const { json } = await ask('GET', '/client/v4/zones/main/error_rules/hits')
  const [{ source, number, hits, description, ...rest }] = json.result
  assert.deepEqual([source, number, hits, description], ['all_zones_file', 1, 3, 'of the file'])
  assert.ok(!JSON.stringify(rest).includes('xxx'))
})
