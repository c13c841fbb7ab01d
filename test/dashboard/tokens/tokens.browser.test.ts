import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { isWellFormed } from '../../../src/tokens/token.ts'
import { launchBrowser } from '../../help/browser.ts'
import { openDashboard } from '../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person makes a token, copies its value, and revokes it', async t => {
  const { base, browse, ask } = await openDashboard(t)
  const context = await browse(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
    timezoneId: 'Asia/Tokyo',
  })
  const page = await context.newPage()
  await page.goto(`${base}/tokens`)
  await page.getByRole('link', { name: 'Create a token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('deploy')
  await page.getByLabel('AI Gateway Run').check()
  await page.getByLabel('Address 1').fill('127.0.0.1')
  await page.getByRole('button', { name: 'Add another address' }).click()
  await page.getByLabel('Address 2').fill('::1')
  // Enter makes the token, and does not add a field.
  await page.getByLabel('Address 2').press('Enter')
  await page.getByRole('heading', { name: 'Token created' }).waitFor()
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const value = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.ok(isWellFormed(value))
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 200)
  await page.getByRole('link', { name: 'I have saved it' }).click()
  assert.ok(!(await page.content()).includes(value))
  // Made at midnight, UTC.
  const created = page.locator('dt:text-is("Created") + dd time')
  assert.match((await created.textContent())!, /9:00/)
  assert.equal(await created.getAttribute('title'), '2026-01-01T00:00:00.000Z')
  await page.getByRole('link', { name: 'Revoke…' }).click()
  await page.getByRole('button', { name: 'Revoke the token' }).click()
  await page.getByText('The token was revoked.').waitFor()
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 401)
})

test('a preset is ticked in the page, and counted', async t => {
  const { base, browse } = await openDashboard(t)
  const page = await (await browse(browser)).newPage()
  await page.goto(`${base}/tokens/new`)
  await page.getByLabel('Name', { exact: true }).fill('reports')
  await page.getByLabel('Members Write').check()
  await page.getByRole('button', { name: 'Call models' }).click()
  assert.deepEqual(
    await page.evaluate('[...document.querySelectorAll(":checked")].map(box => box.labels[0].textContent)'),
    ['AI Gateway Run'],
  )
  await page.getByText('1 selected').waitFor()
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'reports')
})
