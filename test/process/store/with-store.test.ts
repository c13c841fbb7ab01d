import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { withStore } from '../../../src/process/store/with-store.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { gatehouse } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'
import { replicates, startRedis } from '../../help/redis.ts'
import { token } from '../../store/contract-specimens.ts'

test('a command whose change is not confirmed says why, and that it may have been made', async t => {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const store = await openStore(primary.url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  await new FirstFill(store).run(7)
  const file = writeConfig(t, `zones: []\nai: { hosts: [127.0.0.1] }\nstore: { url: '${primary.url}' }`)
  replica.stop()
  const args = ['token', 'create', '--permission', 'AI Gateway Run', '--config', file]
  const { code, stdout, stderr } = await gatehouse(args)
  assert.deepEqual(
    { code, stdout, stderr },
    {
      code: 1,
      stdout: '',
      stderr: `gatehouse: redis://127.0.0.1:${primary.port}: store did not confirm (0 of 1 replica confirms writes)
The change may or may not have been made: check before you repeat it.
`,
    },
  )
})

test('a command whose change gets no reply says that it may have been made, and one that reads does not', async t => {
  const redis = await startRedis(t)
  const run = async (use: (store: Store) => Promise<unknown>) => {
    const said: string[] = []
    const { mock } = t.mock.method(process.stderr, 'write', (text: string) => said.push(text) > 0)
    const code = await withStore(redis.url, async store => {
      assert.ok(await store.tokens.insert(token()))
      redis.stop()
      await use(store)
      return 0
    })
    mock.restore()
    redis.cont()
    assert.equal(code, 1)
    return said.join('')
  }
  const failure = `gatehouse: redis://127.0.0.1:${redis.port}: store unreachable `
  const isOnly = (said: string) => said.startsWith(failure) && said.indexOf('\n') === said.length - 1
  const [first, ...rest] = (await run(store => store.tokens.insert(token()))).split(/(?<=\n)/)
  assert.ok(isOnly(first!), first!)
  assert.deepEqual(rest, ['The change may or may not have been made: check before you repeat it.\n'])
  const read = await run(store => store.accounts.list())
  assert.ok(isOnly(read), read)
})
