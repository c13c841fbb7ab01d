import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { secrets } from '../../help/ai.ts'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { openWithEdge } from './open-entrance.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person adds a key, calls with it, and deletes it', async t => {
  const site = await openWithEdge(t)
  // As in one process, the API seals with the secret by which the edge unseals.
  site.keys.current = secrets
  const { value } = await site.keepToken(['AI Gateway Run'])
  const page = await (await site.browse(browser)).newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${site.base}/gateways/default`)
  await page.getByRole('link', { name: 'Provider keys' }).click()
  await page.getByRole('link', { name: 'Add a key' }).click()
  await page.getByLabel('Provider', { exact: true }).selectOption('openai')
  await page.getByLabel('Key', { exact: true }).fill('sk-of-the-gateway-1')
  await page.getByLabel('Alias').fill('production')
  await page.getByRole('button', { name: 'Add the key' }).click()
  await page.getByText('The key was added.').waitFor()
  const row = page.getByRole('row', { name: 'openai production' })
  assert.match((await row.textContent())!, /…ay-1never/)

  await page.goto(`${site.base}/gateways/default/test`)
  await page.getByLabel('Token').fill(value)
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('Response 200').waitFor()
  assert.equal(site.provider.asked[0]!.headers.authorization, 'Bearer sk-of-the-gateway-1')

  await page.goto(`${site.base}/gateways/default/keys`)
  await row.getByRole('link', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete the key' }).click()
  await page.getByText('No keys yet').waitFor()
  assert.deepEqual(complaints, [])
})
