import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { openStore } from '../../../src/store/open.ts'
import { account } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const options = { commandTimeout: 1_000 }

async function made(file: string): Promise<void> {
  const store = await openStore(`sqlite:${file}`, options)
  await store.accounts.insert(account())
  for (let i = 0; i < 200; i++)
    await store.counters.spend({
      key: `k${i}`,
      ...{ limit: 10, done: 1, wanted: 0, window: { kind: 'sliding', period: 60_000 } },
    })
  await store.close()
}

test('a damaged file of credentials is named as itself', async t => {
  const file = temporaryFile(t)
  await made(file)
  writeFileSync(`${file}-credentials`, 'x'.repeat(8192))
  await assert.rejects(openStore(`sqlite:${file}`, options), {
    message: `${file}-credentials cannot be used as the store: file is not a database`,
  })
})

for (const [name, damage] of Object.entries({
  'from its first byte': (bytes: Buffer) => bytes.fill('x', 0, 4096),
  'in its middle': (bytes: Buffer) => bytes.fill('x', 4096),
  'by being cut': (bytes: Buffer) => bytes.subarray(0, 4096 + 512),
}))
  test(`damaged counts ${name} are set aside, with a warning, and counted from zero`, async t => {
    const file = temporaryFile(t)
    await made(file)
    const bytes = readFileSync(`${file}-counts`)
    assert.ok(bytes.length > 3 * 4096)
    writeFileSync(`${file}-counts`, damage(bytes))
    const { size } = statSync(`${file}-counts`)
    const warned = once(process, 'warning')
    const store = await openStore(`sqlite:${file}`, options)
    t.after(() => store.close())
    const [{ message }] = await warned
    assert.match(message, /gatehouse\.db-counts is damaged .* renamed to .*; limits count from zero/)
    const aside = readdirSync(dirname(file)).filter(name => /-counts\.damaged-\d+$/.test(name))
    assert.deepEqual(
      aside.map(name => statSync(`${dirname(file)}/${name}`).size),
      [size],
    )
    const { count } = await store.counters.spend({
      key: 'k1',
      ...{ limit: 10, done: 1, wanted: 0, window: { kind: 'sliding', period: 60_000 } },
    })
    assert.equal(count, 1)
    assert.equal((await store.accounts.list()).length, 1)
  })
