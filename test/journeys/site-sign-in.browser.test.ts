// A person in a real browser signs in for a site and out again, without script.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaintsOf, launchBrowser } from '../help/browser.ts'
import { startEcho } from '../help/echo-origin.ts'
import { startGateway } from '../help/gateway.ts'
import { Jar } from '../help/jar.ts'

const email = 'ada@example.com'
const password = 'correct horse battery'

test('from a first visit to the end of the session', async t => {
  const origin = await startEcho(t)
  const gateway = await startGateway(
    t,
    `pools:
  app: { origins: ['${origin.url}'] }
zones:
  - hosts: [localhost]
    protect: { sign_in: { fields: { X-Email: email } } }
    routes: [{ path: /, pool: app }]
`,
  )
  const founder = new Jar()
  await founder.send(await founder.open((await gateway.firstStart).setUp!), { email, password })
  const site = `http://localhost:${new URL(gateway.edge).port}`
  const browser = await launchBrowser()
  t.after(() => browser.close())
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const complaints = complaintsOf(page)

  await page.goto(`${site}/wiki?page=1`)
  assert.equal(new URL(page.url()).pathname, '/auth/sign-in')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${site}/wiki?page=1`)
  assert.match((await page.textContent('body'))!, /"x-email":"ada@example\.com"/)

  await page.goto(`${site}/cdn-cgi/sign-out`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  const names = (await context.cookies(site)).map(({ name }) => name)
  assert.ok(!names.includes('gatehouse-site'))
  await page.getByRole('link', { name: /Back to/ }).click()
  assert.equal(new URL(page.url()).pathname, '/auth/sign-in')
  assert.deepEqual(complaints, [])
})
