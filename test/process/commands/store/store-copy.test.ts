import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { isMoved } from '../../../../src/store/contract/mark.ts'
import { noteOwner } from '../../../../src/store/records/store-note.ts'
import { openStore } from '../../../../src/store/open.ts'
import { zoneOwner } from '../../../../src/store/records/zone-lists.ts'
import { gatehouse } from '../../../help/command.ts'
import { freePort } from '../../../help/free-port.ts'
import { main, spawnGateway, writeConfig } from '../../../help/gateway.ts'
import { startRedis } from '../../../help/redis.ts'
import { thorough } from '../../../help/thorough.ts'
import { turnsUntil, until } from '../../../help/until.ts'
import { accessRuleList, account, member, token, user } from '../../../store/contract-specimens.ts'
import { temporaryFile } from '../../../store/sqlite/temporary-file.ts'

const targets = {
  SQLite: async (t: TestContext) => `sqlite:${temporaryFile(t)}`,
  Redis: async (t: TestContext) => (await startRedis(t)).url,
}

for (const [name, targetOf] of Object.entries(targets).filter(([name]) => thorough(true, name === 'Redis')))
  test(`a copy to ${name} that is killed half-way is no store to start on, until the same copy is complete`, async t => {
    const from = `sqlite:${temporaryFile(t)}`
    const to = await targetOf(t)
    const owner = account()
    const source = await openStore(from, { commandTimeout: 5_000 })
    t.after(() => source.close())
    await source.accounts.insert(owner)
    const somebody = user()
    await source.users.insert(somebody)
    await source.members.insert(member({ account: owner.id, user: somebody.id }))
    const tokens = Array.from({ length: 10_000 }, (_, i) => token({ account: owner.id, issuedOn: i }))
    for (let i = 0; i < tokens.length; i += 100)
      await Promise.all(tokens.slice(i, i + 100).map(one => source.tokens.insert(one)))
    await source.accessRules.insert(accessRuleList())

    const target = await openStore(to, { commandTimeout: 5_000 })
    t.after(() => target.close())
    const copy = spawn(process.execPath, [main, 'store', 'copy', '--from', from, '--to', to], {
      stdio: 'ignore',
    })
    const exited = once(copy, 'exit')
    const countOf = async () => (await target.tokens.list(owner.id, { offset: 0, limit: 1 })).total
    await turnsUntil(async () => (await countOf()) > 0)
    copy.kill('SIGKILL')
    assert.deepEqual(await exited, [null, 'SIGKILL'])
    // It was met in its middle: something is there, and the rules are not.
    const part = await countOf()
    assert.ok(part > 0 && part < tokens.length, `${part} tokens were copied`)
    assert.equal((await target.accessRules.list(zoneOwner, { offset: 0, limit: 1 })).total, 0)
    assert.equal((await target.notes.get(noteOwner, 'copy'))!.record.value, source.location)

    const [port, edge] = [await freePort(), await freePort()]
    const file = writeConfig(
      t,
      `zones: []\nstore: { url: '${to}' }\nadmin: 127.0.0.1:${port}\nlisten: [127.0.0.1:${edge}]`,
    )
    const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
    const starting = spawnGateway(t, [main, 'start', '--config', file], { env }, file)
    const ready = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
      return { code: response?.status, ...((await response?.json()) as { reason?: string; next?: string }) }
    }
    await until(async () => (await ready()).reason?.includes('copy') === true)
    const { code, reason, next } = await ready()
    assert.equal(code, 503)
    assert.match(reason!, /^it holds an unfinished copy of sqlite:.*, begun at 20/)
    assert.match(next!, /Run the same gatehouse store copy again/)
    await assert.rejects(fetch(`http://127.0.0.1:${edge}`), 'no site is served')

    // What was revoked meanwhile must not be left of the first attempt.
    await source.tokens.remove(owner.id, tokens[0]!.id)
    await source.accounts.update(owner.id, { name: 'renamed' })
    const again = await gatehouse(['store', 'copy', '--from', from, '--to', to])
    assert.deepEqual([again.code, await countOf()], [0, tokens.length - 1], again.stderr)
    assert.equal(await target.tokens.get(owner.id, tokens[0]!.id), null)
    assert.equal((await target.accounts.get(owner.id))!.name, 'renamed')
    assert.equal((await target.members.list(owner.id, { offset: 0, limit: 1 })).total, 1)
    assert.equal((await target.accessRules.list(zoneOwner, { offset: 0, limit: 1 })).total, 1)
    assert.equal(await target.notes.get(noteOwner, 'copy'), null)
    const started = await starting
    assert.equal((await ready()).code, 200)
    assert.equal((await fetch(started.edge)).status, 403)
    const third = await gatehouse(['store', 'copy', '--from', from, '--to', to])
    assert.match(third.stderr, /already has an account/)
  })

test('a move that is interrupted at the keyboard ends with 1, and the store confirms changes again', async t => {
  const [from, to] = [temporaryFile(t), temporaryFile(t)].map(file => `sqlite:${file}`) as [string, string]
  const [source, target] = [
    await openStore(from, { commandTimeout: 5_000 }),
    await openStore(to, { commandTimeout: 5_000 }),
  ]
  t.after(() => Promise.all([source.close(), target.close()]))
  const owner = account()
  await source.accounts.insert(owner)
  for (let i = 0; i < 50; i++)
    await Promise.all(Array.from({ length: 100 }, () => source.tokens.insert(token({ account: owner.id }))))
  const before = await source.adopt()
  const move = spawn(process.execPath, [main, 'store', 'move', '--from', from, '--to', to])
  const [stderr, exited] = [text(move.stderr), once(move, 'exit')]
  await turnsUntil(async () => (await target.tokens.list(owner.id, { offset: 0, limit: 1 })).total > 0)
  assert.equal(isMoved(await source.adopt()), true)
  move.kill('SIGINT')
  assert.deepEqual(await exited, [1, null])
  assert.equal(await stderr, 'gatehouse: interrupted; run the same command again to move it\n')
  assert.deepEqual(await source.adopt(), before)
  source.trust.expect(before)
  assert.equal(await source.tokens.insert(token({ account: owner.id })), true)
  const again = await gatehouse(['store', 'move', '--from', from, '--to', to])
  assert.match(again.stderr, /^Moved 1 account and 5001 tokens/)
})
