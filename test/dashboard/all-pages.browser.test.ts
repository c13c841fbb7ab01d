// Every page of the table: who gets it, and whether it can be used. Nothing is to be added here for a new page; `fixtures.ts` has what its path needs.

import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { routes } from '../../src/dashboard/routes.ts'
import { roles } from '../../src/permissions/roles.ts'
import { violationsOf } from '../help/axe.ts'
import { complaintsOf, launchBrowser } from '../help/browser.ts'
import { crossingsOf } from '../help/overflow.ts'
import { isThorough, thorough } from '../help/thorough.ts'
import { furnish, states } from './fixtures.ts'
import { furnishMuch } from './much.ts'
import { openDashboard, type RoleName } from './site.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('each role gets the pages that its permissions open, no other, and no link to what is not for it', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  for (const { name, permissions } of roles) {
    const visitor = await site.signIn(await site.addPerson(name.split(' - ')[0] as RoleName))
    const statuses = new Map<string, number>()
    const links = new Set<string>()
    for (const { path: pattern, permission, show, take } of routes) {
      const path = pathOf(pattern)
      const isOpen = permission === null || permissions.includes(permission)
      const [got, sent] = [await visitor.get(path), await visitor.post(path, {})]
      const expected = isOpen ? [show ? [200, 303] : [405], take ? [403] : [405]] : [[404], [404]]
      assert.ok(expected[0]!.includes(got.status), `${name}: GET ${pattern}: ${got.status}`)
      assert.ok(expected[1]!.includes(sent.status), `${name}: POST ${pattern}: ${sent.status}`)
      statuses.set(path, got.status)
      for (const [, link] of got.body.matchAll(/(?:href|action)="(\/dashboard\/[^"?#]*)/g)) links.add(link!)
    }
    for (const link of links) {
      if (link.startsWith('/dashboard/assets/')) continue
      const status = statuses.get(link) ?? (await visitor.get(link)).status
      assert.ok([200, 303, 405].includes(status), `${name}: ${link}: ${status}`)
    }
  }
})

/** The pages, in parts that take a busy machine no more time than a test has. Files are no pages, and what frames of ours show looks as others want. */
const shown = [
  ...routes.filter(({ path, show }) => show !== undefined && !/\/(?:preview|export)$/.test(path)),
  ...states.map(state => ({ path: `/dashboard/{account}${state}` })),
].map(({ path }) => path)
const parts = Object.entries(Object.groupBy(shown, (_, i) => `${1 + (i % 2)} of 2`))

const endings: (() => unknown)[] = []
after(async () => {
  for (const end of endings.reverse()) await end()
})

/** Opens the dashboard with something of everything, or with much of it: once for all parts, which change nothing of it. */
const opened = [false, true].map(hasMuch => {
  let site: Promise<readonly [Site, (path: string) => string]> | null = null
  const open = async () => {
    const site = await openDashboard({ after: (end: () => unknown) => void endings.push(end) } as TestContext)
    const pathOf = await furnish(site)
    if (hasMuch) await furnishMuch(site, pathOf('{client}'))
    return [site, pathOf] as const
  }
  return () => (site ??= open())
})

/** Opens these pages in turn, and asks of each what holds for all. */
async function visit(
  t: TestContext,
  patterns: readonly string[],
  options: BrowserContextOptions,
  look: (page: Page, pattern: string) => Promise<void>,
  { hasMuch = false } = {},
): Promise<void> {
  const [site, pathOf] = await opened[Number(hasMuch)]!()
  const context = await site.browse(browser, options)
  t.after(() => context.close())
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  const count = (selector: string) => page.evaluate(`document.querySelectorAll('${selector}').length`)
  for (const pattern of patterns) {
    const response = await page.goto(pathOf(pattern))
    assert.equal(response?.status(), 200, pattern)
    assert.equal(await count('h1'), 1, pattern)
    await look(page, pattern)
    assert.equal(await count('img[src="x"]'), 0, pattern)
    assert.deepEqual(complaints, [], pattern)
  }
}

const narrow = { width: 320, height: 800 }
const phone = { width: 390, height: 800 }
const wide = { width: 1280, height: 800 }

for (const [part, patterns] of parts) {
  test(`pages can be used, narrow and wide, light and dark, and nothing crosses the box that it is in (${part})`, async t => {
    const look = async (page: Page, pattern: string) => {
      // One look differs from another by its colours alone, which are those of a few names.
      const one = Math.floor(shown.indexOf(pattern) / parts.length) % 4 === 0 ? 'dark' : 'light'
      for (const colorScheme of thorough(['light', 'dark'] as const, [one] as const)) {
        await page.emulateMedia({ colorScheme })
        assert.deepEqual(await violationsOf(page), [], `${pattern}, ${colorScheme}`)
      }
      for (const viewport of thorough([phone, wide, narrow], [wide, narrow])) {
        await page.setViewportSize(viewport)
        assert.deepEqual(await crossingsOf(page), [], `${pattern}, ${viewport.width} px`)
      }
    }
    await visit(t, patterns!, { viewport: narrow }, look, { hasMuch: true })
    if (isThorough) await visit(t, patterns!, { viewport: narrow }, look)
  })

  if (isThorough)
    test(`nothing crosses the box that it is in on a phone, however much there is, and without script (${part})`, async t => {
      const look = async (page: Page, pattern: string) => {
        for (const viewport of [phone, narrow]) {
          await page.setViewportSize(viewport)
          assert.deepEqual(await crossingsOf(page), [], `${pattern}, ${viewport.width} px`)
        }
      }
      await visit(t, patterns!, { viewport: phone, javaScriptEnabled: false }, look, { hasMuch: true })
    })
}
