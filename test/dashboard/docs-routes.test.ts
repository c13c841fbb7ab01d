// The documentation for people who are signed in, wherever the dashboard is served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sections } from '../../src/dashboard/page/sections.ts'
import { openDashboard } from './site.ts'
import { Visitor } from '../sign-in/site.ts'

test('every page of the dashboard leads to the API, whose pages lead to each other and back', async t => {
  const { base, get } = await openDashboard(t)
  assert.ok((await get(base)).body.includes(`href="${base}/docs/api#`))
  const index = await get(`${base}/docs/api`)
  assert.match(index.body, /<h1>Management API<\/h1>/)
  assert.match(index.body, /<a class="mark" href="\/dashboard">/)
  const links = Array.from(index.body.matchAll(/ href="(api\/\w+)"/g), ([, link]) => link!)
  assert.ok(links.includes('api/createToken'))
  for (const link of links.slice(0, 5)) {
    const { status, headers, body } = await get(`${base}/docs/${link}`)
    assert.equal(status, 200, link)
    assert.match(headers.get('content-security-policy')!, /script-src 'none'/)
    assert.match(body, / href="\.\.\/api"/)
  }
})

test('each section leads to its own operations', async t => {
  const { base, get } = await openDashboard(t)
  const { body: index } = await get(`${base}/docs/api`)
  for (const { title, path, api } of sections) {
    const { body } = await get(path(base.split('/').at(-1)!))
    assert.ok(body.includes(`href="${base}/docs/api#${api}"`), title)
    assert.ok(index.includes(` id="${api}"`), title)
  }
})

test('a page that there is not is the 404 of the dashboard', async t => {
  const { base, get } = await openDashboard(t)
  const { status, text } = await get(`${base}/docs/api/none`)
  assert.equal(status, 404)
  assert.match(text, /Page not found/)
})

test('a visitor without a session is sent to sign in', async t => {
  const { base, origin } = await openDashboard(t)
  const page = await new Visitor(origin).get(`${base}/docs/api`)
  assert.equal(page.status, 303)
  assert.match(page.headers.get('location')!, /^\/auth\/sign-in\?next=/)
})
