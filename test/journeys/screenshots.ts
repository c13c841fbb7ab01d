// Takes the pictures of the dashboard for docs/screenshots, and writes the page that shows them: `node --test test/journeys/screenshots.ts`. A real gateway with origins, a provider and traffic, and
// each page of the dashboard in light and dark. Its name keeps it out of the tests.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { routes } from '../../src/dashboard/routes.ts'
import { AcmeServer } from '../help/acme-server.ts'
import { completion } from '../help/ai.ts'
import { launchBrowser } from '../help/browser.ts'
import { Authority } from '../help/certificates.ts'
import { freePort } from '../help/free-port.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { deadOrigin } from '../help/origin.ts'
import { say, startProvider } from '../help/provider.ts'
import { root } from '../help/source.ts'

const folder = join(root, 'docs/screenshots')
const password = 'correct horse battery'

test('every page of the dashboard has its picture, in light and dark', { timeout: 900_000 }, async t => {
  const gateway = await furnishedGateway(t)
  const { account, token, setUp } = await gateway.firstStart
  const browser = await launchBrowser()
  t.after(() => browser.close())
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
  await setUpBy(await context.newPage(), setUp!)
  const ids = await furnish(gateway, account, token)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const titles = new Map<string, string>()
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await context.newPage()
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await takeAll(page, gateway.admin, { account, ...ids }, colorScheme, titles)
    await page.close()
  }
  await context.close()
  writeFileSync(join(root, 'docs/screenshots.md'), pageOf([...titles]))
})

async function takeAll(
  page: Page,
  origin: string,
  ids: Readonly<Record<string, string>>,
  scheme: string,
  titles: Map<string, string>,
): Promise<void> {
  for (const { path, show } of routes) {
    // Files and frames are no pages of their own.
    if (show === undefined || /\/(export|preview)$/.test(path)) continue
    const steps = path.split('/').slice(3)
    const lacking = steps.some(step => /^\{/.test(step) && ids[step.slice(1, -1)] === undefined)
    if (lacking) continue
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name]!))
    const response = await page.goto(origin + target, { waitUntil: 'networkidle' })
    if (response?.status() !== 200 || !page.url().endsWith(target)) continue
    const name = steps.map(step => step.replaceAll(/[{}~]/g, '')).join('-') || 'overview'
    if (name === 'zones-zone-explain') await explain(page)
    titles.set(name, (await page.locator('h1').textContent())!)
    await page.screenshot({
      path: join(folder, `${name}-${scheme}.png`),
      fullPage: true,
      clip: await topOf(page),
    })
  }
}

/** Has the page tell what would happen to a request that a rule refuses. */
async function explain(page: Page): Promise<void> {
  await page.getByLabel('Path', { exact: true }).fill('/admin/users')
  await page.getByLabel('Client address').fill('198.51.100.7')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
}

/** Writes the page that shows all pictures, by their names. */
function pageOf(titles: readonly (readonly [name: string, title: string])[]): string {
  const rows = titles.map(
    ([name, title]) =>
      `| ${title} | ![${title}, light](screenshots/${name}-light.png) | ![${title}, dark](screenshots/${name}-dark.png) |`,
  )
  return `# The dashboard in pictures

Every page of the [dashboard](dashboard.md), of a gateway with traffic. \`node --test test/journeys/screenshots.ts\` takes
them again.

| page | light | dark |
|---|---|---|
${rows.join('\n')}
`
}

/** Returns as much of a page as a picture shows. */
async function topOf(page: Page) {
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  return { x: 0, y: 0, width: 1280, height: Math.min(height, 1100) }
}

/** Starts a shop, an API behind three origins of which one is down, and AI gateways. The shop has a certificate of its own, one that an authority has issued, and one that it does not get. */
async function furnishedGateway(t: TestContext): Promise<RunningGateway> {
  const provider = await startProvider(t, ({ body }, response) => {
    if (body.model === 'gpt-4.1') response.writeHead(429, { 'content-type': 'application/json' }).end('{}')
    else say(response, { ...completion, model: String(body.model) })
  })
  const shop = await startSite(t)
  const api = await startSite(t)
  const { certificate, key } = new Authority('Shop authority').issue(['shop.example', '*.shop.example'], {
    subject: '/CN=shop.example',
  })
  const [acme, plain, secure] = [await AcmeServer.start(t), await freePort(), await freePort()]
  acme.beforeValidation = ({ host }) => {
    acme.ports = host.startsWith('www.') ? { http: plain, tls: secure } : { http: 1, tls: 1 }
  }
  const gateway = await startGateway(
    t,
    `
listen: ['127.0.0.1:${plain}', { address: '127.0.0.1:${secure}', tls: true }]
admin: 127.0.0.1:0
tls:
  certificates: [${JSON.stringify({ certificate, key })}]
  auto: { directory: '${acme.directory}', terms_agreed: true }
ai: { hosts: [ai.localhost], providers: { openai: { url: '${provider.url}' } } }
pools:
  shop: { origins: ['${shop}'] }
  api: { origins: ['${api}', '${deadOrigin().url}'] }
  gone: { origins: ['${deadOrigin().url}'] }
zones:
  - name: shop.example
    hosts: [shop.example, '*.shop.example', www.example.net, outlet.example.net]
    access: { rules: [{ deny: { path: [/admin] }, description: Staff come by the VPN }] }
    routes:
      - { path: /, pool: shop }
      - { path: /checkout, pool: shop, rate_limits: [{ name: checkout, rate: 5/1m, key: address }] }
      - { path: /api, pool: api }
      - { path: /old, pool: gone }
`,
  )
  await Promise.all(['certificate issued', 'certificate order failed'].map(msg => gateway.logged(msg)))
  return gateway
}

async function startSite(t: TestContext): Promise<string> {
  const server = createServer((_, response) => response.end('Hello.'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function setUpBy(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.waitForURL(url => !url.pathname.startsWith('/auth/set-up'))
  await page.close()
}

/** Makes what pages are about, over the API, and traffic; returns what the `{name}` steps of paths stand for. */
async function furnish(
  gateway: RunningGateway,
  account: string,
  token: string,
): Promise<Record<string, string>> {
  const base = `${gateway.admin}/client/v4`
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const { result, errors } = (await response.json()) as any
    if (errors?.length > 0) throw new Error(`${method} ${path}: ${JSON.stringify(errors)}`)
    return result
  }
  const own = `/accounts/${account}`
  const clientOf = (client_name: string, token_endpoint_auth_method: string) => ({
    client_name,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: ['https://app.example/callback'],
    scopes: ['openid', 'user.read', 'ai_gateway.run', 'ai_gateway.read'],
    optional_scopes: ['ai_gateway.read'],
    token_endpoint_auth_method,
    client_uri: 'https://app.example/',
  })
  const client = await ask('POST', `${own}/oauth_clients`, clientOf('Shop assistant', 'client_secret_basic'))
  await ask('POST', `${own}/oauth_clients`, clientOf('Terminal', 'none'))
  await ask('POST', `${own}/oauth_clients/${client.client_id}/rotate_secret`)
  const roles = await ask('GET', `${own}/roles`)
  const roleOf = (name: string) => roles.find((role: { name: string }) => role.name === name).id
  const member = await ask('POST', `${own}/members`, {
    email: 'grace@example.com',
    roles: [roleOf('AI Gateway Admin')],
  })
  await ask('POST', `${own}/members`, {
    email: 'linus@example.com',
    roles: [roleOf('Administrator Read Only')],
  })
  const rule = await ask('POST', '/zones/shop.example/access_rules', {
    action: 'deny',
    ip: ['203.0.113.0/24'],
    description: 'Scraper of last week',
  })
  await ask('POST', '/zones/shop.example/access_rules', { action: 'allow', path: ['/healthz'] })
  const errorRule = await ask('POST', '/zones/shop.example/error_rules', {
    description: 'The shop is being mended',
    expression: 'response.code >= 500',
    content_type: 'text/plain',
    content: 'The shop is being mended. Ray ::RAY_ID::',
  })
  await setPage(base, token)
  const groups = await ask('GET', `${own}/tokens/permission_groups`)
  const run = groups.find(({ name }: { name: string }) => name === 'AI Gateway Run')
  const made = await ask('POST', `${own}/tokens`, {
    name: 'support bot',
    policies: [
      {
        effect: 'allow',
        permission_groups: [{ id: run.id }],
        resources: { [`svc.api.account.${account}`]: '*' },
      },
    ],
  })
  await traffic(gateway, account, made.value)
  const model = (id: string, provider: string, model: string, fallback: string) => ({
    id,
    type: 'model',
    properties: { provider, model, timeout: 20_000, retries: 1 },
    outputs: { success: { elementId: 'end' }, fallback: { elementId: fallback } },
  })
  const route = await ask('POST', `${own}/ai-gateway/gateways/default/routes`, {
    name: 'support',
    elements: [
      { id: 'start', type: 'start', outputs: { next: { elementId: 'model 1' } } },
      model('model 1', 'openai', 'gpt-4o-mini', 'model 1, then 2'),
      model('model 1, then 2', 'groq', 'llama-3.3-70b-versatile', 'end'),
      { id: 'end', type: 'end', outputs: {} },
    ],
  })
  const logs = await ask('GET', `${own}/ai-gateway/gateways/default/logs`)
  return {
    client: client.client_id,
    member: member.id,
    token: made.id,
    gateway: 'default',
    modelroute: route.id,
    version: route.version.version_id,
    log: logs[0]?.id,
    zone: 'shop.example',
    rule: rule.id,
    errorrule: errorRule.id,
    type: 'waf_block',
    code: '521',
  }
}

/** Sets a page of the shop for those whom its rules refuse. */
async function setPage(base: string, token: string): Promise<void> {
  const html = '<!doctype html><title>Closed</title><h1>This door is for staff</h1><p>Ray ::RAY_ID::</p>'
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/html' }
  const path = `${base}/zones/shop.example/error_pages/waf_block`
  const set = await fetch(path, { method: 'PUT', headers, body: html })
  if (!set.ok) throw new Error(`PUT of the page: ${await set.text()}`)
}

/** Sends what makes pages worth a look: requests that go well, are refused or find nobody, and calls of models. */
async function traffic({ edge, admin }: RunningGateway, account: string, token: string): Promise<void> {
  const paths = ['/', '/', '/', '/checkout', '/api/items', '/admin', '/old/page']
  for (let i = 0; i < 140; i++) await get(edge, 'shop.example', paths[i % paths.length]!)
  const models = ['gpt-4o-mini', 'gpt-4o-mini', 'gpt-5', 'gpt-4.1']
  const call = `/v1/${account}/default/openai/chat/completions`
  for (let i = 0; i < 60; i++) {
    const body = {
      model: models[i % models.length],
      messages: [{ role: 'user', content: 'Where is my parcel?' }],
    }
    await get(edge, 'ai.localhost', call, body, i % 10 === 9 ? null : token)
  }
  // What is counted is told once a second, and logs are written behind the calls.
  const told = async () =>
    /gatehouse_ai_log_queued_entries 0\b/.test(await (await fetch(`${admin}/metrics`)).text())
  for (let i = 0; i < 100 && !(await told()); i++) await new Promise(resolve => setTimeout(resolve, 50))
  await new Promise(resolve => setTimeout(resolve, 2_500))
}

/** Sends one request by its host, with a body as a chat. */
async function get(edge: string, host: string, path: string, body?: unknown, token: string | null = null) {
  const text = body === undefined ? '' : JSON.stringify(body)
  await new Promise<void>((resolve, reject) => {
    const sent = request(
      edge + path,
      {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          host,
          ...(body !== undefined && {
            'content-type': 'application/json',
            authorization: 'Bearer sk-test',
            ...(token !== null && { 'svc-aig-authorization': `Bearer ${token}` }),
            'content-length': Buffer.byteLength(text),
          }),
        },
      },
      response => response.resume().on('end', resolve),
    )
    sent.on('error', reject).end(text)
  })
}
