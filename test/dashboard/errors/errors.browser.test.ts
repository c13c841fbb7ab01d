import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { CustomErrors } from '../../../src/errors/custom/custom-errors.ts'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { openDashboard } from '../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person mends a rule at the character that is wrong, tries it, and uploads a page that is served', async t => {
  const site = await openDashboard(t)
  const context = await site.browse(browser, { viewport: { width: 390, height: 800 } })
  const page = await context.newPage()
  // Chromium notes each form that is refused.
  const complaints = complaintsOf(page, text => text.includes('status of 422'))
  await page.goto(`${site.base}/errors`)
  await page.getByRole('link', { name: 'main' }).click()
  await page.getByRole('link', { name: 'Add a rule' }).click()
  await page.getByLabel('Expression').fill('response.code == 502 &&\n  request.pth == "/"')
  await page.getByLabel('Content', { exact: true }).fill('<h1>Back soon</h1><p>::RAY_ID::</p>')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('Must be a CEL expression; line 2, column 11').first().waitFor()
  assert.equal(await page.locator('.flaw mark').textContent(), 'p')
  await page.getByLabel('Expression').fill('response.code == 502 && request.path == "/"')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('The rule matches, and decides.').waitFor()
  await page.getByRole('button', { name: 'Show as a page' }).click()
  const frame = page.frameLocator('iframe.preview')
  await frame.getByRole('heading', { name: 'Back soon' }).waitFor()
  await page.getByRole('button', { name: 'Add the rule' }).click()
  await page.getByText('The rule was added.').waitFor()

  await page.getByRole('link', { name: 'Blocked by an access rule' }).click()
  await frame.getByRole('heading', { name: 'Access denied' }).waitFor()
  await page.getByRole('link', { name: 'Upload a page' }).click()
  const html = '<title>No</title><h1>Not for you, ::CLIENT_IP::</h1>'
  const file = { name: 'page.html', mimeType: 'text/html', buffer: Buffer.from(html) }
  await page.getByLabel('File').setInputFiles(file)
  await page.getByRole('button', { name: 'Preview' }).click()
  await frame.getByRole('heading', { name: 'Not for you, 192.0.2.1' }).waitFor()
  assert.deepEqual((await site.ask('GET', '/client/v4/zones/main/error_pages')).json.result, [])
  // The file is still chosen.
  await page.getByRole('button', { name: 'Serve this page' }).click()
  await page.getByText('The page is served from now on.').waitFor()
  const { result } = (await site.ask('GET', '/client/v4/zones/main/error_pages/waf_block')).json
  assert.equal(result.html, html)
  assert.deepEqual(complaints, [])
})

test('an uploaded page is previewed in a frame that keeps it from doing anything', async t => {
  const site = await openDashboard(t)
  const context = await site.browse(browser)
  const page = await context.newPage()
  const body = `<script>parent.document.title = 'mine'</script><img src=x onerror="alert(1)"><form action="${site.base}/tokens" target="_top"><button>Go</button></form><a href="${site.base}/tokens" target="_top">Out</a><a href="${site.base}/tokens">On</a>`
  const headers = { 'content-type': 'text/html' }
  await site.ask('PUT', '/client/v4/zones/main/error_pages/ip_block', { body, headers })
  const none = { rules: [], pages: {} }
  site.given.custom = new CustomErrors([{ ...none, pages: { ip_block: body } }, none])
  const alerts: string[] = []
  page.on('dialog', dialog => alerts.push(dialog.message()))
  await page.goto(`${site.base}/errors/zones/main/pages/ip_block`)
  const frame = page.frameLocator('iframe.preview')
  await frame.getByRole('button', { name: 'Go' }).click()
  await frame.getByRole('link', { name: 'Out' }).click()
  assert.match(page.url(), /ip_block$/)
  assert.match(await page.title(), /^Address blocked/)
  // As a page of its own it may no more than that.
  await page.goto(`${site.base}/errors/zones/main/pages/ip_block/preview`)
  for (const name of ['Out', 'On']) await frame.getByRole('link', { name, exact: true }).click()
  assert.match(page.url(), /ip_block\/preview$/)
  await frame.getByRole('link', { name: 'On', exact: true }).waitFor()
  assert.deepEqual(alerts, [])
})
