// `gatehouse policy` against a real management API, as a person and a script use it.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startApi } from '../../../admin/api.ts'
import { quickGatehouse, type Outcome } from '../../../help/command.ts'
import { quickFolder } from '../../../help/quick-folder.ts'
import { gateway } from '../../../store/contract-specimens.ts'
import { account } from '../../../tokens/token-with.ts'

const block = {
  name: 'No opus',
  actor: '*',
  resource: { model: ['claude-opus*'] },
  action: { type: 'block' },
}
const daily = {
  ...{ name: 'Five each', actor: 'user:{svc.user.id}', resource: '*', condition: 'provider != "groq"' },
  action: {
    type: 'limit',
    amount: 5,
    period: 'daily',
    technique: 'named-interval',
    time_zone: 'Europe/Berlin',
  },
}

async function start(t: TestContext) {
  const api = await startApi(t)
  const folder = quickFolder(t, 'policies')
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const policy = (...args: readonly string[]): Promise<Outcome> =>
    quickGatehouse(['policy', ...args, '--url', api.origin], env)
  const fileOf = (name: string, value: unknown): string => {
    const path = join(folder, name)
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
    return path
  }
  return { ...api, policy, fileOf }
}

test('policies are added to a draft, listed, simulated, committed and rolled back', async t => {
  const { policy, fileOf } = await start(t)
  const added = await policy('add', '--file', fileOf('policies', [block, daily]))
  assert.equal(added.code, 0, added.stderr)
  assert.match(added.stderr, /^Added No opus \([0-9a-f]{32}\) to the draft\.\nAdded Five each /)
  const list = await policy('list')
  assert.match(list.stderr, /^This is a draft: 2 added, 0 changed, 0 removed\. /)
  assert.match(list.stdout, /^POLICY ID +NAME +ACTOR +RESOURCE +CONDITION +ACTION$/m)
  assert.match(list.stdout, /^[0-9a-f]{32} +No opus +\* +model claude-opus\* +- +block$/m)
  assert.match(
    list.stdout,
    / Five each +user:\{svc\.user\.id\} +\* +provider != "groq" +\$5 daily \(Europe\/Berlin\)$/m,
  )
  const call = fileOf('call', { identity: { user: 'u1' }, model: 'openai/gpt-4o' })
  const allowed = await policy('simulate', '--file', call)
  assert.equal(allowed.code, 0, allowed.stderr)
  assert.match(allowed.stdout, /^The call would be allowed by Five each\.$/m)
  assert.match(allowed.stdout, /^No opus +no +its resource does not match$/m)
  assert.match(allowed.stdout, /^Five each +u1 +\$0 of \$5 +\$5 +\d{4}-/m)
  const before = await policy('simulate', '--file', call, '--committed')
  assert.match(before.stdout, /^The call would be allowed: there are no policies\.$/m)
  const blocked = await policy('simulate', '--file', fileOf('other', { model: 'anthropic/claude-opus-4' }))
  assert.deepEqual(
    [blocked.code, blocked.stdout.split('\n')[0]],
    [1, 'The call would be refused: No opus blocks it.'],
  )
  const committed = await policy('commit')
  assert.match(
    committed.stderr,
    /^2 policies are in effect: calls that none allows are refused\. The gateway is default, /,
  )
  const { stdout: budgets } = await policy('budgets')
  assert.match(budgets, /^POLICY +IDENTITY +SPENT +LEFT +STARTS OVER +REFUSED$/m)
  assert.match(budgets, /^No opus +- +- +- +- +0$/m)
  assert.match(budgets, /^\(no policy allows it\) +- +- +- +- +0$/m)
  const nobody = await policy('simulate', '--file', fileOf('nobody', { model: 'openai/gpt-4o' }))
  assert.deepEqual(
    [nobody.code, nobody.stdout.split('\n')[0]],
    [1, 'The call would be refused: no policy allows it.'],
  )

  const shown = JSON.parse((await policy('list', '--committed', '--json')).stdout)
  const removed = await policy('remove', shown[1].id)
  assert.match(removed.stderr, /^Removed Five each from the draft\. /)
  await policy('commit')
  const history = JSON.parse((await policy('history', '--json')).stdout)
  assert.deepEqual(
    history.map((commit: { active: boolean; policies: unknown[] }) => [
      commit.active,
      commit.policies.length,
    ]),
    [
      [true, 1],
      [false, 2],
    ],
  )
  assert.match((await policy('history')).stdout, /^[0-9a-f]{32} +\S+ +1 +in effect$/m)
  const back = await policy('rollback', history[1].id)
  assert.match(back.stderr, /^2 policies are in effect/)
})

test('a draft is discarded, and an empty one turns policies off', async t => {
  const { policy, fileOf } = await start(t)
  const file = fileOf('policy', block)
  assert.equal((await policy('discard')).code, 1)
  const { id } = JSON.parse((await policy('add', '--file', file, '--json')).stdout)
  assert.equal((await policy('discard')).stderr, 'Discarded the draft.\n')
  assert.equal((await policy('remove', id)).code, 1)
  const again = JSON.parse((await policy('add', '--file', file, '--json')).stdout)
  assert.match((await policy('commit')).stderr, /^1 policy is in effect/)
  await policy('remove', again.id)
  assert.match((await policy('commit')).stderr, /^No policies are in effect any more/)
  assert.equal((await policy('list')).stderr, '')
})

test('the gateway is the one that is named', async t => {
  const { policy, kept, fileOf } = await start(t)
  await kept.gateways.insert(gateway({ account, id: 'support' }))
  await policy('add', '--gateway', 'support', '--file', fileOf('policy', block))
  assert.match((await policy('commit', '--gateway', 'support')).stderr, /The gateway is support, /)
  assert.deepEqual(JSON.parse((await policy('list', '--json')).stdout), [])
})

test('a mistake in arguments, in a file or of the API is told', async t => {
  const { policy, fileOf } = await start(t)
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await policy(...args)
    assert.equal(stdout, '')
    return [code, stderr]
  }
  assert.deepEqual(await told('add'), [2, 'gatehouse: name a file with the policies: --file PATH\n'])
  assert.deepEqual(await told('simulate'), [2, 'gatehouse: name a file with the call: --file PATH\n'])
  const broken = fileOf('broken', '{')
  assert.deepEqual(await told('add', '--file', broken), [
    2,
    `gatehouse: --file ${broken} is not valid JSON\n`,
  ])
  assert.match(String((await told('remove', 'x'))[1]), /a policy id has 32 hexadecimal digits/)
  assert.match(String((await told('rollback', 'x'))[1]), /a commit id has 32 hexadecimal digits/)
  assert.match(String((await told('list', '--gateway', 'A'))[1]), /the id of a gateway has/)
  assert.match(String((await told('add', '--file', fileOf('odd', {})))[1]), /name/)
  assert.equal((await told('simulate', '--file', fileOf('call', {})))[0], 2)
})
