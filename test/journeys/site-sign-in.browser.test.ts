// A person in a real browser signs in for a site and out again, without script.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { complaintsOf, launchBrowser, trusting } from '../help/browser.ts'
import { Authority } from '../help/certificates.ts'
import { startEcho } from '../help/echo-origin.ts'
import { freePort } from '../help/free-port.ts'
import { startGateway } from '../help/gateway.ts'
import { Jar } from '../help/jar.ts'
import { quickFolder } from '../help/quick-folder.ts'

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

test('over https, at another site than our pages, each with cookies of its host alone', async t => {
  const origin = await startEcho(t)
  const identity = new Authority().issue(['id.test', 'wiki.test', 'team.wiki.test'])
  const folder = quickFolder(t, 'sites')
  writeFileSync(join(folder, 'cert.pem'), identity.certificate)
  writeFileSync(join(folder, 'key.pem'), identity.key)
  const port = await freePort()
  const gateway = await startGateway(
    t,
    `listen: [{ address: '127.0.0.1:${port}', tls: true }]
admin: 127.0.0.1:0
tls: { certificates: [{ certificate: 'file:${folder}/cert.pem', key: 'file:${folder}/key.pem' }] }
oauth: { issuer: 'https://id.test:${port}' }
pools:
  app: { origins: ['${origin.url}'] }
zones:
  - { hosts: [id.test], routes: [{ path: /, pool: app }] }
  - hosts: [wiki.test, team.wiki.test]
    protect: { sign_in: {} }
    routes: [{ path: /, pool: app }]
`,
  )
  const { setUp } = await gateway.firstStart
  const browser = await launchBrowser('--host-resolver-rules=MAP *.test 127.0.0.1', trusting(identity))
  t.after(() => browser.close())
  const context = await browser.newContext()
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await page.goto(setUp!)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.waitForURL(url => url.pathname !== new URL(setUp!).pathname)

  const site = `https://wiki.test:${port}`
  await page.goto(`${site}/wiki?page=1`)
  await page.waitForURL(`${site}/wiki?page=1`)
  const seen = JSON.parse((await page.textContent('body'))!) as { headers: Record<string, string> }
  assert.equal(seen.headers.cookie, undefined)
  const cookies = await context.cookies()
  const attributes = { path: '/', httpOnly: true, secure: true, sameSite: 'Lax' as const, expires: -1 }
  assert.deepEqual(
    cookies
      .map(({ name, domain, path, httpOnly, secure, sameSite, expires }) => ({
        ...{ name, domain, path, httpOnly, secure, sameSite, expires },
      }))
      .filter(({ domain }) => domain !== 'id.test'),
    [{ name: '__Host-gatehouse-site', domain: 'wiki.test', ...attributes }],
  )
  assert.ok(cookies.every(({ name, secure, httpOnly }) => name.startsWith('__Host-') && secure && httpOnly))

  // Another host of the zone has a session of its own, and can plant none.
  const team = `https://team.wiki.test:${port}`
  await page.goto(`${team}/`)
  await page.waitForURL(`${team}/`)
  const valueAt = async (host: string) =>
    (await context.cookies()).filter(({ domain }) => domain === host).map(({ value }) => value)
  const [own] = await valueAt('wiki.test')
  assert.equal((await valueAt('team.wiki.test')).length, 1)
  assert.notDeepEqual(await valueAt('team.wiki.test'), [own])
  for (const domain of ['', '; Domain=wiki.test'])
    await page.evaluate(
      `document.cookie = '__Host-gatehouse-site=${'A'.repeat(43)}; Path=/; Secure${domain}'`,
    )
  assert.deepEqual(await valueAt('wiki.test'), [own])
  assert.equal((await page.goto(`${site}/still`))!.status(), 200)

  await page.goto(`${site}/cdn-cgi/sign-out`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
  assert.deepEqual(await valueAt('wiki.test'), [])
  await page.goto(`${team}/`)
  assert.equal(new URL(page.url()).host, `id.test:${port}`)
  assert.deepEqual(complaints, [])
})
