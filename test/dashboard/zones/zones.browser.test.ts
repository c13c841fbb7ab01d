import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { openDashboard } from '../site.ts'
import { explainWith } from './zone.ts'

let browser: Browser
before(async () => {
  browser = await launchBrowser()
})
after(() => browser?.close())

test('a person creates rules, moves them, and sees which request they refuse', async t => {
  const site = await openDashboard(t)
  explainWith(t, site)
  const context = await site.browse(browser)
  const page = await context.newPage()
  // Chromium notes each form that is refused.
  const complaints = complaintsOf(page, text => text.includes('status of 422'))
  await page.goto(`${site.base}/zones`)
  await page.getByRole('link', { name: 'main', exact: true }).click()
  await page.getByRole('link', { name: 'Access rules', exact: true }).click()

  await page.getByRole('link', { name: 'Create a rule' }).click()
  await page.getByLabel('Allow', { exact: true }).check()
  await page.getByLabel('Addresses and networks').fill('203.0.113.7')
  await page.getByRole('button', { name: 'Create the rule' }).click()
  await page.getByText('The rule was created.').waitFor()

  await page.getByRole('link', { name: 'Create a rule' }).click()
  await page.getByLabel('Which requests').selectOption('By an expression (CEL)')
  // Only the field of what was chosen is in view.
  assert.equal(await page.getByLabel('Addresses and networks').isVisible(), false)
  await page.getByLabel('Expression', { exact: true }).fill('request.path.startsWith("/private"')
  await page.getByRole('button', { name: 'Create the rule' }).click()
  await page
    .getByText(/line 1, column 35/)
    .first()
    .waitFor()
  await page.getByLabel('Expression', { exact: true }).fill('request.path.startsWith("/private")')
  await page.getByRole('button', { name: 'Create the rule' }).click()
  await page.getByText('The rule was created.').waitFor()

  const explain = async () => {
    await page.getByRole('link', { name: 'Explain a request' }).click()
    await page.getByLabel('Client address').fill('203.0.113.7')
    await page.getByLabel('Path').fill('/private/plans')
    await page.getByRole('button', { name: 'Explain' }).click()
    return page.getByRole('status').or(page.getByRole('alert')).first().textContent()
  }
  assert.match((await explain())!, /It would pass/)
  await page.getByRole('link', { name: 'Access rules', exact: true }).click()
  await page.getByRole('button', { name: 'Move rule 2 of the API up' }).click()
  await page.getByText('The rule was moved.').waitFor()
  assert.match((await explain())!, /It would be refused with 403/)
  await page.getByRole('link', { name: 'Access rule set by the API' }).click()
  assert.equal(
    await page.getByLabel('Expression', { exact: true }).inputValue(),
    'request.path.startsWith("/private")',
  )

  // By hand, too: the second row goes to the place of the first.
  await page.getByRole('link', { name: 'Access rules', exact: true }).click()
  const grips = page.locator('.grip')
  await grips.nth(1).dragTo(grips.nth(0))
  await page.getByText('The rule was moved.').waitFor()
  assert.match((await explain())!, /It would pass/)
  assert.deepEqual(complaints, [])
})
