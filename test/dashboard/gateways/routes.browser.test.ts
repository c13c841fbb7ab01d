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

test('a person creates a route, changes it and rolls it back', async t => {
  const site = await openDashboard(t)
  const page = await (await site.browse(browser)).newPage()
  const model = (i: number) =>
    page.getByRole('group', { name: `Model ${i}` }).getByLabel('Provider and model')
  const complaints = complaintsOf(page)
  await page.goto(`${site.base}/gateways/default`)
  await page.getByRole('link', { name: 'Routes', exact: true }).click()
  await page.getByRole('link', { name: 'Create a route' }).click()
  await page.getByLabel('Name').fill('chat')
  // Only the fields of the chosen kind are in view.
  assert.equal(await page.getByLabel('Elements', { exact: true }).isVisible(), false)
  await model(1).fill('openai/gpt-4o-mini')
  await model(2).fill('groq/llama-3.3-70b')
  await page.getByRole('button', { name: 'Create the route' }).click()
  await page.getByText('The route was created.').waitFor()

  await page.getByRole('link', { name: 'Edit', exact: true }).click()
  await model(1).fill('openai/gpt-5')
  await page.getByRole('button', { name: 'Save as a version' }).click()
  await page.getByText('The route was saved.').waitFor()
  const inEffect = page.getByRole('region', { name: 'In effect' })
  assert.match((await inEffect.textContent())!, /openai\/gpt-5, then groq/)

  await page.getByRole('link', { name: 'Roll back to' }).click()
  await page.getByRole('button', { name: 'Deploy this version' }).click()
  await page.getByText('The version was deployed.').waitFor()
  assert.match((await inEffect.textContent())!, /openai\/gpt-4o-mini, then groq/)
  assert.deepEqual(complaints, [])
})
