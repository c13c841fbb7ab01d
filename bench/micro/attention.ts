// Measures how long a page waits for what needs attention in an account of 10,000 OAuth clients and 1,000 members, in ms at the management API, and how long others
// wait meanwhile: node bench/micro/attention.ts [redis]
import { mkdtempSync, rmSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startApi } from '../../test/admin/api.ts'
import { startRedis } from '../../test/help/redis.ts'
import { member, oauthClient, user } from '../../test/store/contract-specimens.ts'
import { account } from '../../test/tokens/token-with.ts'

const clients = 10_000
const members = 1_000

const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
bench.after(() => rmSync(folder, { recursive: true }))
const url = process.argv[2] === 'redis' ? (await startRedis(bench)).url : `sqlite:${join(folder, 'store.db')}`
const { ask, kept, clock } = await startApi(bench, store => store, url, 5_000, 40)
try {
  await inParallel(clients, () => kept.oauthClients.insert(oauthClient({ account })))
  await inParallel(members, async () => {
    const person = user()
    await kept.users.insert(person)
    await kept.members.insert(member({ account, user: person.id }))
  })
  await kept.accounts.update(account, { enforceTwoFactor: true })
  for (let round = 0; round < 5; round++) await measure()
} finally {
  for (const end of ends.reverse()) await end()
}

async function measure(): Promise<void> {
  clock.advance(60_000)
  const began = performance.now()
  const times: number[] = []
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  for (let isNew = false; !isNew; ) {
    const asked = performance.now()
    const { json } = await ask('GET', '/attention')
    times.push(performance.now() - asked)
    isNew = json.result.at === new Date(clock.now()).toISOString()
  }
  delay.disable()
  const whole = performance.now() - began
  console.log(
    `whole after ${whole.toFixed(0)} ms, ${times.length} requests of up to ${Math.max(...times).toFixed(0)} ms, longest turn ${(delay.max / 1e6).toFixed(1)} ms`,
  )
}

async function inParallel(count: number, add: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, add))
}
