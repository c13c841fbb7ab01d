// An account that has much of everything that pages list, with long texts.

import { randomBytes } from 'node:crypto'
import { slotOf } from '../../src/store/records/tally.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import { entryWith, keepEntries } from '../admin/ai-logs/log-entries.ts'
import { zoneWith } from '../admin/zones/zones.ts'
import { auditEntry, gateway, member, oauthClient, oauthGrant, user } from '../store/contract-specimens.ts'
import { tokenWith } from '../tokens/token-with.ts'
import { mcpTallies } from './fixtures.ts'
import type { openDashboard } from './site.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

const many = 500
/** As many as a zone may have. */
const rules = 100

/** Adds so much of all kinds to what is there that every list has more than it can show. */
export async function furnishMuch(site: Site, client: string): Promise<void> {
  const { account, kept, clock, given } = site
  const name = (i: number) => `${i} ${'Long name '.repeat(9)}`.trim().slice(0, 100)
  const path = (i: number) => `/${i}/${'long/'.repeat(100)}`
  await inParallel(many, async i => {
    const person = user({ email: `${i}${'x'.repeat(50)}@${'long.'.repeat(20)}example` })
    await kept.users.insert(person)
    await kept.members.insert(member({ account, user: person.id }))
    await kept.oauthGrants.insert(oauthGrant({ account, user: person.id, client }))
    await kept.oauthGrants.insert(oauthGrant({ account, user: site.user.id, client: id() }))
    const uris = Array.from({ length: 10 }, (_, n) => `https://${i}.example${path(n)}`)
    await kept.oauthClients.insert(oauthClient({ account, name: name(i), redirectUris: uris }))
    await kept.tokens.insert(tokenWith({ id: id(), account, name: name(i) }).token)
    if (i < 300) await kept.gateways.insert(gateway({ account, id: `${i}-${'g'.repeat(50)}` }))
    const changed = Array.from({ length: 7 }, (_, n) => `long_name_of_a_setting_${n}`)
    const values = Object.fromEntries(changed.map(member => [member, name(i).repeat(2)]))
    const [resourceName, actorName] = [name(i), name(i)]
    await kept.audit.append(
      auditEntry({
        ...{ account, resource: id(), resourceName, actorName, at: clock.now() - i },
        ...{ changed, values: { before: values, after: values } },
      }),
    )
  })
  const texts = { model: path(1), path: path(2), tokenName: name(3), error: 'origin_unreachable' }
  await keepEntries(
    kept,
    Array.from({ length: many }, (_, i) =>
      entryWith(i + 10, {
        createdAt: clock.now() - 1_000 * i,
        ...texts,
        model: `${i % 50}${texts.model}`,
        tokenId: `${i % 50}`,
        tokenName: name(i % 50),
      }),
    ),
  )
  await setRules(site)
  const last = clock.now()
  const occurrences = Array.from({ length: 20 }, () => ({
    ...{ at: last, ray: '0123456789abcdef', method: 'GET', host: 'x'.repeat(250), path: path(1) },
    ...{ status: 403, format: 'html' },
  }))
  const slot = slotOf('error', last)
  for (const code of [1000, 1001, 1006, 1010, 1015, 1020, 1100, 1101, 1102])
    await kept.tallies.add([
      { kind: 'error', scope: 'zone main', name: String(code), slot, count: 7, last, occurrences },
    ])
  const long = Array.from({ length: 100 }, (_, i) => mcpTallies('/mcp', last, `${i}${'x'.repeat(120)}`))
  await kept.tallies.add(long.flat())
  given.configs.push(
    ...Array.from({ length: many }, (_, i) =>
      zoneWith({ name: `zone-${i}-${'x'.repeat(40)}`, hosts: [`${i}.test`] }),
    ),
  )
}

async function setRules({ ask, kept }: Site): Promise<void> {
  const description = 'Long words '.repeat(18).trim()
  const paths = Array.from({ length: 10 }, (_, n) => `/${n}/${'x'.repeat(800)}`)
  const expression = `request.path == "/${'x'.repeat(400)}"`
  const add = async (kind: string, body: object) => {
    const { status, json } = await ask('POST', `/client/v4/zones/main/${kind}`, { body })
    if (status !== 200) throw new Error(JSON.stringify(json))
  }
  const filled = <T extends object>(all: readonly T[]) => [
    ...all,
    ...Array.from({ length: rules - all.length }, () => ({ ...all.at(-1)!, id: id() })),
  ]
  await add('access_rules', { action: 'deny', path: paths, description })
  const access = (await kept.accessRules.get(zoneOwner, 'main'))!
  await kept.accessRules.replace({ ...access.record, rules: filled(access.record.rules) }, access.version)
  const content = 'x'.repeat(2_000)
  await add('error_rules', { expression, content, content_type: 'text/plain', description })
  const errors = (await kept.errorRules.get(zoneOwner, 'main'))!
  await kept.errorRules.replace({ ...errors.record, rules: filled(errors.record.rules) }, errors.version)
}

async function inParallel(count: number, add: (i: number) => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => add(done + i)))
}

function id(): string {
  return randomBytes(16).toString('hex')
}
