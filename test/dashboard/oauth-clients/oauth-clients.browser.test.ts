import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../../help/browser.ts'
import { proveDomains } from '../../help/domains.ts'
import { until } from '../../help/until.ts'
import { openDashboard } from '../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person creates a client, rotates its secret, proves its host and publishes it', async t => {
  const site = await openDashboard(t)
  const dns = await proveDomains(t, site)
  const context = await site.browse(browser, { viewport: { width: 390, height: 800 } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    // No browser finds the logo of a host that only this test knows.
    if (!/ERR_NAME_NOT_RESOLVED/.test(message.text())) complaints.push(message.text())
  })
  await page.goto(`${site.base}/oauth-clients`)
  await page.getByRole('link', { name: 'Create a client' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Shop')
  await page.getByLabel('Redirect URI 1').fill('https://shop.test/callback')
  await page.getByText('Pages and further URIs').click()
  await page.getByLabel('Home page').fill('https://shop.test/')
  await page.getByLabel('Logo').fill('https://shop.test/logo.png')
  await page.getByRole('button', { name: 'Continue to scopes' }).click()
  await page.getByLabel('Find a scope').fill('gateway run')
  assert.equal(await page.getByLabel('OpenID').isVisible(), false)
  await page.getByRole('checkbox', { name: 'AI Gateway Run ai_gateway.run' }).check()
  await page.getByText('1 selected').waitFor()
  await page.getByRole('button', { name: 'Create the client' }).click()
  await page.getByRole('heading', { name: 'Client created' }).waitFor()
  await page.getByRole('link', { name: 'I have saved it' }).click()

  await page.getByRole('button', { name: 'Create a new secret' }).click()
  await page.getByRole('link', { name: 'I have saved it' }).click()
  assert.equal(await page.getByRole('button', { name: 'Create a new secret' }).isDisabled(), true)
  await page.getByRole('link', { name: 'Delete the old secret…' }).click()
  await page.getByRole('button', { name: 'Delete the old secret' }).click()
  await page.getByText('The old secret was deleted.').waitFor()

  const record = page.locator('#verification-card .key').nth(2)
  dns.txt('shop.test', (await record.textContent())!)
  site.clock.advance(5 * 60_000)
  // The page finds out by itself.
  await page.getByText('DNS proved it').waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Publish…' }).click()
  await page.getByRole('button', { name: 'Publish it for everybody' }).click()
  await page.getByText('The client is public: everybody may allow it.').waitFor()
  await until(() => !page.url().includes('done'))
  assert.deepEqual(complaints, [])
})
