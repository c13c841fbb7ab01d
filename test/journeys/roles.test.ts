// What each role may see and do, over the API and on the pages: what the code says is compared with a table, so that every change of it is seen.
// WRITE_GOLDEN=1 node --test test/journeys/roles.test.ts writes the table anew.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { apiRows, plainRows, userRows } from '../../src/admin/routes.ts'
import type { Row } from '../../src/admin/api/api-types.ts'
import { zoneRows } from '../../src/admin/zones/routes.ts'
import { routes } from '../../src/dashboard/routes.ts'
import { PersonTokens } from '../../src/people/sign-in/person-token.ts'
import type { User } from '../../src/store/records/people.ts'
import { furnish } from '../dashboard/fixtures.ts'
import { openDashboard, type RoleName } from '../dashboard/site.ts'
import { Visitor } from '../sign-in/site.ts'
import { root } from '../help/source.ts'
import { account } from '../tokens/token-with.ts'

const golden = join(root, 'test/golden/roles.txt')

/** The heads of the columns; a stranger is the super administrator of another account, and nobody has not signed in. */
const columns: Readonly<Record<string, RoleName>> = {
  super: 'Super Administrator',
  admin: 'Administrator',
  oauth: 'OAuth Client Write',
  ai: 'AI Gateway Admin',
  read: 'Administrator Read Only',
}

const legend = `What each role may see and do: + is that it may, a number is the status with which it is refused, and "in" that it must sign in first.
A stranger is the super administrator of another account; nobody has not signed in.
`

type Site = Awaited<ReturnType<typeof openDashboard>>

/** Says for each column what a request came to. */
type Asker = (method: string, path: string) => Promise<string>

test('the roles, strangers and nobody may do what the table says', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  const other = await site.addAccount('other')
  const people: Record<string, User> = {}
  for (const [name, role] of Object.entries(columns)) people[name] = await site.addPerson(role)
  people.stranger = await site.addPerson('Super Administrator', {}, other)

  const names = [...Object.keys(people), 'nobody']
  const ofApi = [
    ...(await Promise.all(Object.values(people).map(user => asPerson(site, user)))),
    asNobody(site),
  ]
  const rows: readonly Row[] = [...plainRows, ...userRows, ...apiRows, ...zoneRows]
  const lines: string[][] = [['', ...names]]
  for (const { method, path } of rows) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => stand[name] ?? '0'.repeat(32))
    lines.push([`${method} ${path}`, ...(await askAll(ofApi, method, url))])
  }
  // The API has ended sessions by now.
  const visitors = await Promise.all(Object.values(people).map(user => site.signIn(user)))
  const ofPages = [...visitors, new Visitor(site.origin)].map(onPages)
  for (const { path, show, take } of routes)
    for (const method of [show && 'GET', take && 'POST'].filter(method => method !== undefined))
      lines.push([`${method} ${path}`, ...(await askAll(ofPages, method, pathOf(path)))])

  const table = `${legend}\n${written(lines)}`
  if (process.env.WRITE_GOLDEN) writeFileSync(golden, table)
  assert.equal(table, readFileSync(golden, 'utf8'), 'if that is meant, write the table anew and review it')
  assert.deepEqual(site.bugs, [])
})

const stand: Readonly<Record<string, string>> = { account_id: account, zone: 'main' }

async function askAll(askers: readonly Asker[], method: string, path: string): Promise<string[]> {
  const said: string[] = []
  for (const ask of askers) said.push(await ask(method, path))
  return said
}

/** Asks the API as somebody who is signed in, with nothing to write, which is looked at only where they may. */
async function asPerson({ kept, clock, people, server }: Site, user: User): Promise<Asker> {
  const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
  const visit = { address: '127.0.0.1', userAgent: null, ray: '0123456789abcdef' }
  const { session } = await people.sessions.begin(user, proof, visit)
  const { token } = await new PersonTokens(kept, clock).of({ user, session })
  const sender = { ...visit, peer: '127.0.0.1', isDirect: true, isVouched: false, base: null }
  return async (method, target) => {
    const question = { method: method as Row['method'], target, sender }
    const { status } = await server.askAs(token, question)
    return status === 401 || status === 403 ? String(status) : '+'
  }
}

function asNobody({ origin }: Site): Asker {
  return async (method, path) => {
    const { status } = await fetch(origin + path, { method })
    return status === 401 || status === 403 ? String(status) : '+'
  }
}

/** Loads pages, and sends forms without the token of any, which is looked at only where they may. */
function onPages(visitor: Visitor): Asker {
  return async (method, path) => {
    const page = method === 'GET' ? await visitor.get(path) : await visitor.post(path, {})
    if (page.location?.startsWith('/auth/sign-in')) return 'in'
    const may = method === 'GET' ? [200, 303] : [403]
    return may.includes(page.status) ? '+' : String(page.status)
  }
}

function written(lines: readonly (readonly string[])[]): string {
  const width = Math.max(...lines.map(([head]) => head!.length))
  const columns = lines[0]!.slice(1).map(name => Math.max(3, name.length))
  return lines
    .map(([head, ...cells]) =>
      [head!.padEnd(width), ...cells.map((cell, i) => cell.padEnd(columns[i]!))].join('  ').trimEnd(),
    )
    .join('\n')
    .concat('\n')
}
