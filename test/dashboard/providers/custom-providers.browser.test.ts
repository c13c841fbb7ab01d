import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { selfSigned } from '../../../src/process/demo/self-signed.ts'
import { completion, secrets } from '../../help/ai.ts'
import { complaintsOf, launchBrowser } from '../../help/browser.ts'
import { say } from '../../help/provider.ts'
import { openWithEdge } from '../gateways/open-entrance.ts'

const certificate = selfSigned('localhost')
const usual = getCACertificates('default')
let browser: Browser
before(async () => {
  setDefaultCACertificates([...usual, certificate.cert.toString()])
  browser = await launchBrowser()
})
after(() => {
  setDefaultCACertificates(usual)
  return browser?.close()
})

test('a person adds a provider and its key, calls it, disables it, and deletes it', async t => {
  const credentials: (string | undefined)[] = []
  const server = createServer(certificate, (request, response) => {
    credentials.push(request.headers.authorization)
    say(response, completion)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const site = await openWithEdge(t, undefined, undefined, { customNetworks: ['127.0.0.0/8', '::1'] })
  // As in one process, the API seals with the secret by which the edge unseals.
  site.keys.current = secrets
  const { value } = await site.keepToken(['AI Gateway Run'])
  const page = await (await site.browse(browser)).newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${site.base}/providers`)
  await page.getByRole('link', { name: 'Custom providers' }).click()
  await page.getByRole('link', { name: 'Add a provider' }).click()
  await page.getByLabel('Name').fill('Team')
  await page.getByLabel('Slug').fill('team')
  await page.getByLabel('Address').fill(`https://localhost:${port}/v1`)
  await page.getByRole('button', { name: 'Add the provider' }).click()
  await page.getByText('The provider was added.').waitFor()

  await page.goto(`${site.base}/gateways/default/keys/new`)
  await page.getByLabel('Provider', { exact: true }).selectOption('custom-team')
  await page.getByLabel('Key', { exact: true }).fill('sk-of-the-team-0001')
  await page.getByRole('button', { name: 'Add the key' }).click()
  await page.getByText('The key was added.').waitFor()

  await page.goto(`${site.base}/gateways/default/test`)
  await page.getByLabel('Model').fill('custom-team/small')
  await page.getByLabel('Token').fill(value)
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('Response 200').waitFor()
  assert.deepEqual(credentials, ['Bearer sk-of-the-team-0001'])

  await page.goto(`${site.base}/custom-providers`)
  await page.getByRole('link', { name: 'Disable' }).click()
  await page.getByRole('button', { name: 'Disable the provider' }).click()
  await page.getByText('The provider is disabled.').waitFor()
  await page.getByRole('link', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete the provider' }).click()
  await page.getByText('No custom providers yet').waitFor()
  assert.deepEqual(complaints, [])
})
