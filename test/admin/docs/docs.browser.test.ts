// The pages of the API in a browser: they can be read on the smallest screen, in light and dark.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { AdminServer } from '../../../src/admin/server.ts'
import { violationsOf } from '../../help/axe.ts'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { crossingsOf } from '../../help/overflow.ts'
import { thorough } from '../../help/thorough.ts'
import { type Described, described } from '../openapi/openapi-document.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const narrow = { width: 320, height: 800 }
const wide = { width: 1280, height: 800 }

const lengthOf = (operation: Described) => JSON.stringify(operation).length

test('pages of the API can be used, narrow and wide, light and dark', async t => {
  const facts = { unready: () => null, metricsAccess: 'direct', metrics: async () => '' } as const
  const bugs: unknown[] = []
  const server = new AdminServer(facts, bug => bugs.push(bug))
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  const page = await (await browser.newContext({ viewport: narrow })).newPage()
  const complaints = complaintsOf(page)
  // Pages of one group have the same parts, and what fits a narrow screen has room on a wide one.
  const groups = new Map(described.toReversed().map(({ id, tag }) => [tag, `/${id}`]))
  const first = new Set(['', ...groups.values()])
  const longest = described
    .toSorted((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, 12)
    .map(({ id }) => `/${id}`)
  const all = described.map(({ id }) => `/${id}`)
  const audited = thorough<ReadonlySet<string>>(first, new Set(['', ...longest.slice(0, 2)]))
  for (const path of first.union(new Set(thorough(all, longest)))) {
    await page
      .goto(`http://127.0.0.1:${port}/docs/api${path}`)
      .catch(cause => assert.fail(String(bugs[0] ?? cause)))
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
    assert.deepEqual(await crossingsOf(page), [], `${path}, narrow`)
    if (audited.has(path)) assert.deepEqual(await violationsOf(page), [], path)
    if (!audited.has(path)) continue
    await page.setViewportSize(wide)
    assert.deepEqual(await crossingsOf(page), [], `${path}, wide`)
    await page.setViewportSize(narrow)
  }
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`http://127.0.0.1:${port}/docs/api/createToken`)
  assert.deepEqual(await violationsOf(page, ['color-contrast']), [])
  assert.deepEqual(complaints, [])
})
