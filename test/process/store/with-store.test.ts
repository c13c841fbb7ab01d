import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { gatehouse } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'
import { replicates, startRedis } from '../../help/redis.ts'

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
