import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { complaintsOf, launchBrowser } from '../../../help/browser.ts'
import { openDashboard } from '../../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person sets up the guard with the keyboard, and mends what does nothing', async t => {
  const site = await openDashboard(t)
  const page = await (await site.browse(browser)).newPage()
  const complaints = complaintsOf(page, text => text.includes('status of 422'))
  await page.goto(`${site.base}/gateways/default`)
  await page.getByRole('link', { name: 'Set up the guard' }).click()
  const choice = (row: string, check: string) => page.getByLabel(`${row}: ${check}`, { exact: true })
  const keys = 'API keys of OpenAI'
  await choice('All patterns', 'requests').selectOption('BLOCK')
  await choice(keys, 'requests').selectOption('FLAG')
  // From one choice to the next, by row.
  await choice(keys, 'requests').focus()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.id'), 'response.openai_key')
  await page.keyboard.press('Enter')
  await choice(keys, 'responses').selectOption('REDACT')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: `${keys}: requests` }).click()
  assert.equal(await page.evaluate('document.activeElement.id'), 'request.openai_key')
  assert.equal(await choice(keys, 'responses').inputValue(), 'REDACT')
  await choice(keys, 'requests').selectOption('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The guard was saved.').waitFor()
  const row = page.getByRole('row', { name: 'openai_key' })
  assert.equal(await row.textContent(), 'openai_keyBlockRedact')
  assert.deepEqual(complaints, [])
})
