// Every page of the table: who gets it, and whether it can be used. Nothing is to be added here for a new page; `fixtures.ts` has what its path needs.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { routes } from '../../src/dashboard/routes.ts'
import { roles } from '../../src/permissions/roles.ts'
import { violationsOf } from '../help/axe.ts'
import { launchBrowser } from '../help/browser.ts'
import { furnish, states } from './fixtures.ts'
import { openDashboard, type RoleName } from './site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

/** The largest page, with its style and scripts, in bytes. */
const largest = 80_000

test('each role gets the pages that its permissions open, and no other is there for it', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  for (const { name, permissions } of roles) {
    const visitor = await site.signIn(await site.addPerson(name.split(' - ')[0] as RoleName))
    for (const { path: pattern, permission, show, take } of routes) {
      const path = pathOf(pattern)
      const isOpen = permission === null || permissions.includes(permission)
      const [got, sent] = [await visitor.get(path), await visitor.post(path, {})]
      const expected = isOpen ? [show ? [200, 303] : [405], take ? [403] : [405]] : [[404], [404]]
      assert.ok(expected[0]!.includes(got.status), `${name}: GET ${pattern}: ${got.status}`)
      assert.ok(expected[1]!.includes(sent.status), `${name}: POST ${pattern}: ${sent.status}`)
    }
  }
})

test('no page links to what its viewer may not see', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  for (const { name, permissions } of roles) {
    const visitor = await site.signIn(await site.addPerson(name.split(' - ')[0] as RoleName))
    const links = new Set<string>()
    for (const { path, permission, show } of routes) {
      if (show === undefined || !(permission === null || permissions.includes(permission))) continue
      const { body } = await visitor.get(pathOf(path))
      for (const [, link] of body.matchAll(/(?:href|action)="(\/dashboard\/[^"?#]*)/g)) links.add(link!)
    }
    for (const link of links) {
      if (link.startsWith('/dashboard/assets/')) continue
      const { status } = await visitor.get(link)
      assert.ok([200, 303, 405].includes(status), `${name}: ${link}: ${status}`)
    }
  }
})

/** Everything is asked of the first look; another one differs by its width and colours alone. */
const looks: readonly BrowserContextOptions[] = [
  { viewport: { width: 390, height: 800 }, colorScheme: 'light' },
  { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { viewport: { width: 320, height: 640 }, colorScheme: 'light', javaScriptEnabled: false },
]

for (const look of looks) {
  const { viewport, colorScheme, javaScriptEnabled: hasScript = true } = look
  test(`every page can be used at ${viewport!.width} px, ${colorScheme}${hasScript ? '' : ', without script'}`, async t => {
    const site = await openDashboard(t)
    const pathOf = await furnish(site)
    const context = await site.browse(browser, look)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('dialog', dialog => complaints.push(dialog.message()))
    // Files are no pages, and what frames of ours show looks as others want.
    const shown = routes
      .filter(({ path, show }) => show !== undefined && !/\/(?:preview|export)$/.test(path))
      .map(({ path }) => path)
    for (const pattern of [...shown, ...states.map(state => `/dashboard/{account}${state}`)]) {
      const response = await page.goto(pathOf(pattern))
      assert.equal(response?.status(), 200, pattern)
      assert.equal(await page.locator('h1').count(), 1, pattern)
      if (hasScript) {
        const rules = look === looks[0] ? null : ['color-contrast']
        assert.deepEqual(await violationsOf(page, rules), [], pattern)
        if (look === looks[0]) await page.setViewportSize({ width: 320, height: 800 })
        const isCut = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        assert.equal(isCut, false, `${pattern} is wider than the screen`)
        await page.setViewportSize(viewport!)
      }
      assert.equal(await page.locator('img[src="x"]').count(), 0, pattern)
      assert.deepEqual(complaints, [], pattern)
    }
  })
}

test('no page is large', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  const sizes = new Map<string, Promise<number>>()
  const sizeOf = (path: string) => {
    const size =
      sizes.get(path) ??
      fetch(site.origin + path).then(async response => (await response.arrayBuffer()).byteLength)
    sizes.set(path, size)
    return size
  }
  for (const { path, show } of routes) {
    if (show === undefined) continue
    const { body } = await site.get(pathOf(path))
    const assets = Array.from(
      body.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]*)"/g),
      ([, asset]) => asset!,
    )
    const size = (await Promise.all(assets.map(sizeOf))).reduce(
      (sum, one) => sum + one,
      Buffer.byteLength(body),
    )
    assert.ok(size < largest, `${path}: ${size} bytes`)
  }
})
