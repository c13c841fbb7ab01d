import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { openDashboard } from '../site.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person drafts a policy, tries a call and commits', async t => {
  const site = await openDashboard(t)
  const page = await (await site.browse(browser)).newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${site.base}/gateways/default`)
  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  await page.getByRole('link', { name: 'Add a policy' }).click()
  const [whose, dollars, names] = [
    page.getByLabel('Which one'),
    page.getByLabel('Dollars'),
    page.getByLabel('Names'),
  ]
  const visible = async () => [await whose.isVisible(), await dollars.isVisible(), await names.isVisible()]
  // Only the fields of what is chosen are in view.
  assert.deepEqual(await visible(), [false, true, false])
  await page.getByLabel('Whose calls').selectOption('team')
  await page.getByLabel('What they may').selectOption('no-limit')
  await page.getByLabel('Which models').selectOption('model')
  assert.deepEqual(await visible(), [true, false, true])
  await page.getByLabel('Name', { exact: true }).fill('Research')
  await whose.fill('research')
  await names.fill('openai/gpt-5*')
  await page.getByRole('button', { name: 'Add to the draft' }).click()
  await page.getByText('The policy was added to the draft.').waitFor()

  await page.getByRole('link', { name: 'Try a call' }).click()
  await page.getByLabel('Model', { exact: true }).fill('openai/gpt-5-mini')
  await page.getByLabel('Metadata').fill('team=research')
  await page.getByRole('button', { name: 'Decide' }).click()
  await page.getByText('The call is allowed by Research.').waitFor()
  await page.getByLabel('Metadata').fill('team=sales')
  await page.getByRole('button', { name: 'Decide' }).click()
  await page.getByText('The call is refused: no policy allows it.').waitFor()
  await page.getByText('of somebody else').waitFor()

  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  await page.getByRole('link', { name: 'Commit…' }).click()
  await page.getByRole('button', { name: 'Commit the draft' }).click()
  await page.getByText('The draft was committed.').waitFor()
  assert.deepEqual(complaints, [])
})
