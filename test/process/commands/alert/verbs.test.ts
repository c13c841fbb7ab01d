// `gatehouse alert` against a real management API, as a person and a script use it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startApi } from '../../../admin/api.ts'
import { quickGatehouse, type Outcome } from '../../../help/command.ts'
import { account } from '../../../tokens/token-with.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const alert = (...args: readonly string[]): Promise<Outcome> =>
    quickGatehouse(['alert', ...args, '--url', api.origin], env)
  return { ...api, alert }
}

const hook = 'https://hooks.example.com/budgets'

test('alerts are added, listed, changed, tested, given another secret and removed', async t => {
  const { alert, ask } = await start(t)
  const added = await alert('add', hook)
  assert.equal(added.code, 0, added.stderr)
  assert.match(added.stdout, /^whsec_[A-Za-z0-9+/]{43}=\n$/)
  const [, id] = /^Added the alert ([0-9a-f]{32})\. Its secret is shown only once\.$/m.exec(added.stderr)!
  const listed = await alert('list')
  assert.match(listed.stdout, /^ALERT ID +URL +AT +LATEST DELIVERY$/m)
  assert.match(listed.stdout, new RegExp(`^${id} +${hook} +50%, 80%, 95% +-$`, 'm'))
  const changed = await alert('set', id!, '--thresholds', '90, 60')
  assert.match(changed.stderr, /^https:\/\/hooks\.example\.com\/budgets is told at 60%, 90%\.$/m)
  const moved = await alert('set', id!, '--alert-url', 'https://127.0.0.1/x', '--json')
  assert.deepEqual(JSON.parse(moved.stdout).thresholds, [60, 90])
  const tested = await alert('test', id!)
  assert.equal(tested.code, 1)
  assert.match(tested.stderr, /^The webhook was not told: its address is not on the public Internet\.$/m)
  const rotated = await alert('rotate', id!)
  assert.match(rotated.stdout, /^whsec_/)
  assert.notEqual(rotated.stdout, added.stdout)
  assert.equal((await alert('remove', id!)).code, 0)
  const { json } = await ask('GET', '/ai-gateway/gateways/default/budget_alerts')
  assert.deepEqual(json.result, [])
})

test('what is wrong is said before anything is done', async t => {
  const { alert } = await start(t)
  for (const [args, words] of [
    [['add', hook, '--thresholds', '0'], /--thresholds must be whole numbers from 1 to 100/],
    [['add', 'http://hooks.example.com'], /url must be an https URL/],
    [['set', 'a'.repeat(32)], /name what to change/],
    [['set', 'a'.repeat(32), '--thresholds', '5'], /there is no alert a+;/],
    [['remove', 'x'], /an alert id has 32 hexadecimal digits/],
    [['list', '--gateway', 'no such'], /gateway/],
    [['list', '--gateway', 'absent'], /Not Found|no such/i],
  ] as const) {
    const { code, stderr } = await alert(...args)
    assert.notEqual(code, 0, args.join(' '))
    assert.match(stderr, words)
  }
})
