// The switch between accounts in Chromium, as wide as a desk and as a phone.

import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { violationsOf } from '../help/axe.ts'
import { launchBrowser } from '../help/browser.ts'
import { crossingsOf } from '../help/overflow.ts'
import { thorough } from '../help/thorough.ts'
import { openDashboard } from './site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

const names = ['A rather long name of a customer in Kødbyen', 'Shop', 'Shop']
for (let i = 1; i <= 20; i++) names.push(`Customer ${i}`)

/** Opens a page of somebody who is a member of many accounts; returns it with the switch. */
async function openMany(t: TestContext, options: BrowserContextOptions) {
  const site = await openDashboard(t)
  for (const name of names) await site.join(site.user, 'Super Administrator', await site.addAccount(name))
  const page = await (await site.browse(browser, options)).newPage()
  await page.goto(`${site.base}/tokens`)
  const isNarrow = options.viewport!.width < 1000
  const openMenu = async () => {
    if (isNarrow) await page.getByText('Menu', { exact: true }).click()
  }
  await openMenu()
  const summary = page.locator('details.account > summary')
  const others = page.getByRole('list', { name: 'Other accounts' })
  return { site, page, summary, others, openMenu }
}

for (const width of [1280, 390]) {
  const viewport = { width, height: 800 }

  test(`without script, a person goes to another of many accounts by the keyboard (${width} px)`, async t => {
    const options = { viewport, javaScriptEnabled: false }
    const { site, page, summary, others, openMenu } = await openMany(t, options)
    await summary.press('Enter')
    await others.waitFor()
    assert.equal(await others.getByRole('link').count(), names.length)
    const link = others.getByRole('link', { name: 'Customer 20' })
    await link.focus()
    const [list, at] = [(await others.boundingBox())!, (await link.boundingBox())!]
    assert.ok(at.y >= list.y && at.y + at.height <= list.y + list.height, 'it is scrolled to')
    // However many there are, the sections stay near.
    assert.ok(list.height <= 400)
    await Promise.all([page.waitForURL(url => !url.pathname.includes(site.account)), link.press('Enter')])
    assert.match(new URL(page.url()).pathname, /^\/dashboard\/[0-9a-f]{32}\/tokens$/)
    await openMenu()
    assert.match((await summary.textContent())!, /Customer 20/)
    assert.equal(await page.locator('[aria-current]').textContent(), 'API tokens')
  })

  for (const colorScheme of thorough<readonly ('light' | 'dark')[]>(
    ['light', 'dark'],
    [width === 390 ? 'light' : 'dark'],
  ))
    test(`the list of accounts can be read by everybody (${colorScheme}, ${width} px)`, async t => {
      const { page, summary, others } = await openMany(t, { viewport, colorScheme })
      await summary.click()
      await others.waitFor()
      assert.deepEqual(await crossingsOf(page), [])
      assert.deepEqual(await violationsOf(page), [])
    })
}
